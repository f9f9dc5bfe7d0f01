package fuse

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// s3Mounts is where the Mountpoint driver for S3 keeps pods that carry one mount each; other
// drivers keep them in their own namespace.
const s3Mounts = "mount-s3"

// carriers are the pods on the place's node that may carry the volume's process: its plugin,
// and pods of the driver's own namespace that are made for one mount (JuiceFS, S3).
func carriers(pl *evidence.Place) []*corev1.Pod {
	if pl.Volume == nil {
		return nil
	}
	plugin := pl.X.DriverPodOn(pl.Volume.CSIName(), pl.Node)
	if plugin == nil {
		return nil
	}
	out := []*corev1.Pod{plugin}
	for _, p := range pl.X.PodsOn(pl.Node) {
		made := p.Namespace == plugin.Namespace && p.Labels["app.kubernetes.io/name"] == "juicefs-mount" || p.Namespace == s3Mounts && strings.Contains(pl.Volume.CSIName(), "s3")
		if made && p != plugin && (evidence.ContainsAny(p.Name, evidence.Keep([]string{pl.Volume.Handle, pl.Volume.PVName()}, func(s string) bool { return s != "" })...) || p.Namespace == s3Mounts) {
			out = append(out, p)
		}
	}
	return out
}

// client is the first pod on the node that is older than what carries its mount now.
func client(pl *evidence.Place, carrier *corev1.Pod) *corev1.Pod {
	at := pods.Began(carrier)
	if at.IsZero() || pl.Volume == nil {
		return nil
	}
	for _, c := range pl.Volume.LiveConsumersOn(pl.Node) {
		if s := c.Pod.Status.StartTime; s != nil && at.After(s.Time) && c.Pod.Status.Phase == corev1.PodRunning {
			return c.Pod
		}
	}
	return nil
}

// Outlived asks whether what carries the volume's process on the node started later than a
// pod that uses the volume there, and which one that is; else the one that waits there, or
// the first. That nothing was started anew is no refutation: a process can end alone.
func Outlived(pl *evidence.Place) (*corev1.Pod, evidence.Answer) {
	for _, p := range carriers(pl) {
		if c := client(pl, p); c != nil {
			return c, evidence.Yes(started(p))
		}
	}
	later := evidence.Unseen(evidence.Lack{Need: "that what carried the process was started anew", Node: pl.Node, Why: "nothing shows it"})
	if pl.Volume == nil {
		return nil, later
	}
	for _, c := range append(pl.Volume.WaitingOn(pl.Node), pl.Volume.LiveConsumersOn(pl.Node)...) {
		return c.Pod, later
	}
	return nil, later
}

func started(p *corev1.Pod) report.Evidence {
	return evidence.FromPod(p, "last start", pods.Began(p).UTC().Format(time.RFC3339))
}

// after is that the kernel ended the run before the present one of a carrier for its memory, as a sentence goes on.
func after(p *corev1.Pod) string {
	for _, c := range p.Status.ContainerStatuses {
		if r, t := c.State.Running, c.LastTerminationState.Terminated; r != nil && r.StartedAt.Time.Equal(pods.Began(p)) && pods.OutOfMemoryRun(t) {
			return " after the kernel had ended its container " + c.Name + " for want of memory (OOMKilled)"
		}
	}
	return ""
}

// OwnPods tells whether the driver carries the volume's mount in a pod that is made for it.
func OwnPods(pl *evidence.Place) bool { return len(carriers(pl)) > 1 }

// Hungry is the carrier that ran out of memory before its present run; nil: none did.
func Hungry(pl *evidence.Place) *corev1.Pod {
	return evidence.First(carriers(pl), func(p *corev1.Pod) bool { return client(pl, p) != nil && after(p) != "" })
}

// Carrier says which pod carried the process, in a sentence; empty: it is not known.
func Carrier(pl *evidence.Place) string {
	all := carriers(pl)
	for _, p := range all {
		if c := client(pl, p); c != nil {
			return fmt.Sprintf("Pod %s/%s, which carries such processes there, (re)started %s ago%s, later than pod %s/%s, and took the processes of older mounts with it.",
				p.Namespace, p.Name, evidence.Duration(pl.X.Age(pods.Began(p))), after(p), c.Namespace, c.Name)
		}
	}
	if len(all) > 0 {
		return "Such processes run in pod " + all[0].Namespace + "/" + all[0].Name + "; its log may tell why this one ended."
	}
	return ""
}
