package claims

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// MountedHere asks whether a pod of the claim runs on the node of the place.
func MountedHere(pl *evidence.Place) evidence.Answer {
	here := evidence.Keep(pl.Volume.Running(), func(c *snapshot.Consumer) bool { return c.Node() == pl.Node })
	return pl.Consumers().Found(evidence.Phases(here)...)
}

// WantedHere asks whether a live pod of the claim is on the node of the place.
func WantedHere(pl *evidence.Place) evidence.Answer {
	facts := evidence.Each(pl.Volume.LiveConsumersOn(pl.Node), func(c *snapshot.Consumer) report.Evidence {
		return evidence.FromPod(c.Pod, "spec.nodeName", pl.Node)
	})
	return pl.Consumers().Found(facts...)
}

// Unused asks whether no pod has the volume: then nobody can grow its filesystem.
func Unused(pl *evidence.Place) evidence.Answer {
	if len(pl.Volume.Live()) > 0 {
		return evidence.No()
	}
	return pl.Consumers().Nothing(evidence.FromAPI(Object(pl.Volume.Claim), "pods", "none"))
}

// HasFilesystem tells whether a node mounts a filesystem of its own from the volume:
// neither a raw block volume nor a share of the network.
func HasFilesystem(pl *evidence.Place) bool {
	v := pl.Volume
	kind := volume.KindOf(pl.X, v)
	return !v.Block() && !v.RegularRWX() && (kind == volume.Disk || kind&volume.Disk != 0 && !slices.Contains(v.AccessModes(), corev1.ReadWriteMany))
}

// NeedsCheck asks whether the filesystem refuses to grow because it has errors.
func NeedsCheck(pl *evidence.Place) evidence.Answer {
	said := pl.Refused().Say(func(t evidence.Text) bool {
		return strings.Contains(t.Raw, "errors in the filesystem") || t.Is(message.NeedsFsck)
	})
	if said.Yes() {
		return said
	}
	ns, _ := pl.Volume.ClaimRef()
	return evidence.ResourceIn(pl.X, "/events", ns).Found()
}

// ReadOnly asks whether every live pod mounts the claim read-only: nobody grows that. On a node those that
// are known there count.
func ReadOnly(pl *evidence.Place) evidence.Answer {
	live, pods := pl.Volume.Live(), pl.Consumers()
	if pl.Node != "" {
		live, pods = pl.Volume.LiveConsumersOn(pl.Node), evidence.Reading{}
	}
	var facts []report.Evidence
	for _, c := range live {
		for _, v := range c.Pod.Spec.Volumes {
			if v.Name != c.Volume {
				continue
			}
			if v.PersistentVolumeClaim == nil || !v.PersistentVolumeClaim.ReadOnly {
				return evidence.No()
			}
			facts = append(facts, evidence.FromPod(c.Pod, "spec.volumes["+v.Name+"].persistentVolumeClaim.readOnly", "true"))
		}
	}
	if len(facts) == 0 {
		return evidence.No()
	}
	return pods.Nothing(facts...)
}
