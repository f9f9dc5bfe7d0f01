package longhorn

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_share_manager_down.md
var longhornShareManagerDownDoc string

// ShareManagerDown is what is left when the NFS server of an RWX volume does not run
// and nothing below it explains why.
var ShareManagerDown = &diagnosis.Rule{
	Name: "longhorn-share-manager-down", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("longhorn.io/sharemanagers"), diagnosis.API("longhorn.io/volumes")},
	Explains: []string{"share-manager-failing", "mount-failed", "pod-waiting-for-volume", "volume-hung", "volume-io-error"},
	LeadsTo:  []string{"nfs-server-unreachable", "nfs-handle-stale"},
	Residual: []diagnosis.Layer{diagnosis.Mount, diagnosis.Device, diagnosis.Filesystem},
	Offers:   []string{"delete-share-manager"},
	Doc:      longhornShareManagerDownDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if v.RegularRWX() && used(v) {
				shareManagerDown(p, v)
			}
		}
	},
}

func shareManagerDown(p *diagnosis.Pass, v *snapshot.Volume) {
	lh := volumeOf(v)
	sm := v.Longhorn.ShareManager
	if lh == nil || sm == nil || sm.State == "running" || !downLong(p, v, lh) || restsRightly(v, sm) {
		return
	}
	f := p.Find(report.Certain, diagnosis.ObjectSubject("ShareManager", sm.Namespace, sm.Name)).On(v)
	f.Sayf("The share-manager of RWX volume %s is %s, so its NFS server answers nobody. %s", lh.Name, none(sm.State), podState(p, lh))
	f.Fact(
		diagnosis.FromAPI("ShareManager "+sm.Name, "status.state", sm.State),
		diagnosis.FromAPI("Volume "+lh.Name, "status.shareState", none(lh.Status.ShareState)),
	)
	f.Fact(lastWords(p, lh)...)
	nodes := p.DeviceNodes(v)
	if len(nodes) == 0 {
		f.Missing("the node of the share-manager: the volume is attached nowhere, so no device was looked at")
	}
	for _, x := range nodes {
		f.Located(x)
		if _, ok := p.Probed(x); !ok {
			f.Missing("the device and its mount on node " + x + ", where the share-manager runs")
		}
	}
	f.Unless("a share-manager in state running")
	f.Advise(remedy.Words("Look at the node of the share-manager as for an RWO volume: the device, its holders and its mount live there."))
	switch {
	case f.Certainty != report.Certain:
		f.Advise(remedy.Words("Only when nothing is wrong there, delete the share-manager pod once; Longhorn makes a new one."))
	default:
		if pod := p.ShareManagerPod(v); pod != nil {
			f.Advise(remedy.DeleteShareManager(v, pod))
		}
	}
	p.Report(f)
}

// downLong tells whether the state is more than a start: over two minutes, by the
// pod's age, the oldest waiting consumer, or the volume's own events.
func downLong(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume) bool {
	if sm := v.Longhorn.ShareManager; sm.State == "error" {
		return true
	}
	const tolerated = 2 * time.Minute
	if pod := p.Pod(lh.Namespace, "share-manager-"+lh.Name); pod != nil {
		if p.Age(pod.CreationTimestamp.Time) > tolerated {
			return true
		}
		// A young pod may be one of many: somebody has waited for longer than a start takes.
		return slices.ContainsFunc(v.Waiting(), func(w *snapshot.Consumer) bool { return p.Age(w.Pod.CreationTimestamp.Time) > 5*tolerated })
	}
	for _, w := range v.Live() {
		if p.Age(w.Pod.CreationTimestamp.Time) > tolerated {
			return true
		}
	}
	return false
}

// restsRightly tells whether a stopped share-manager is what Kubernetes asked for: no
// attachment, no ticket and no waiting pod want the share.
func restsRightly(v *snapshot.Volume, sm *snapshot.LHShareManager) bool {
	if sm.State != "stopped" && sm.State != "stopping" || len(v.Waiting()) > 0 {
		return false
	}
	return len(v.Attachments) == 0 && (v.Longhorn.Attachment == nil || len(v.Longhorn.Attachment.Tickets) == 0)
}

// podState says how the share-manager's pod is.
func podState(p *diagnosis.Pass, lh *snapshot.LHVolume) string {
	name := "share-manager-" + lh.Name
	pod := p.Pod(lh.Namespace, name)
	if pod == nil {
		return "Its pod " + name + " does not exist."
	}
	state := string(pod.Status.Phase)
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Waiting != nil {
			state = c.State.Waiting.Reason
		}
		if c.RestartCount > 0 {
			state += fmt.Sprintf(", %d restarts", c.RestartCount)
		}
		if c.State.Running != nil && !c.Ready {
			state += ", not ready"
		}
	}
	if pod.Status.Phase == corev1.PodPending && pod.Spec.NodeName == "" {
		state += ", not scheduled"
	}
	return "Its pod " + name + " on node " + none(pod.Spec.NodeName) + ": " + state + "."
}

// lastWords are the last telling lines of the share-manager's log.
func lastWords(p *diagnosis.Pass, lh *snapshot.LHVolume) []report.Evidence {
	var out []report.Evidence
	for _, log := range p.LogsOf(lh.Namespace, "share-manager-"+lh.Name) {
		for i := len(log.Lines) - 1; i >= 0 && len(out) < 3; i-- {
			line := log.Lines[i]
			if telling(line) {
				out = append(out, report.Evidence{Source: "log", Locator: "logs " + log.Namespace + "/" + log.Pod + "/" + log.Container, Text: line})
			}
		}
	}
	return out
}

func telling(line string) bool {
	for _, w := range []string{"error", "Error", "fatal", "UNHEALTHY", "READONLY", "not attached", "res=-1", "failed", "refused"} {
		if strings.Contains(line, w) {
			return true
		}
	}
	return false
}
