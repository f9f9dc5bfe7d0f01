package mount

import (
	"fmt"
	"strconv"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/mounts"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// KubeletInContainer finds kubelets whose container hides host paths or shows
// mounts twice.
var KubeletInContainer = &diagnosis.Rule{
	Name: "kubelet-in-container", Layer: diagnosis.Mount, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Publishing, diagnosis.Unmounting, diagnosis.Detaching},
	LeadsTo: []string{"hostpath-type-mismatch", "device-mapped-on-other-node"},
	Asks:    diagnosis.EachPlace | diagnosis.EachPod,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.View == nil {
			return diagnosis.Open(pl)
		}
		whole := pl.Tables(probes.Mounts, probes.KubeletDirs)
		out := []*diagnosis.Proof{diagnosis.Rest(whole)}
		k, ok := mounts.ContainedOf(pl)
		if !ok {
			return out
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(pl.Node), Last: []evidence.Answer{whole.Nothing()},
			With: words.Fields{"node": pl.Node, "pid": strconv.Itoa(k.Proc.PID)},
		}
		if pl.Pod != nil {
			path, hidden := k.Hidden()
			p.Says, p.State, p.With["path"], p.With["pod"] = "hidden", []evidence.Answer{hidden}, path, pods.Name(pl.Pod)
			p.Volume(pl.X.VolumesOfPod(pl.Pod)...)
			p.Steps = []remedy.Step{
				remedy.Check("See what the kubelet itself has mounted.", remedy.OnNode(pl.Node, "cat", fmt.Sprintf("/proc/%d/mountinfo", k.Proc.PID))),
				remedy.Words(fmt.Sprintf("Bind the path into the kubelet's container (RKE: services.kubelet.extra_binds \"%s:%s:rshared\") and restart the kubelet; in the long run run the kubelet on the host.", path, path)),
			}
			return append(out, p)
		}
		d, ok := k.Doubled()
		if !ok {
			return out
		}
		released, why := volume.Released(pl.X, pl.Volume, pl.Node)
		p.Says, p.State = "doubled", []evidence.Answer{d.Is, released}
		p.With["disk"], p.With["volume"], p.With["first"], p.With["second"], p.With["host"], p.With["why"] = mounts.Title(pl.View, d.Host.Dev), volume.Name(pl.Volume), d.Plain.Point, d.Second.Point, d.Host.Point, why
		p.Device(pl.Node, d.Host.Dev)
		p.Steps = []remedy.Step{
			remedy.Words("Unmount " + d.Host.Point + " plainly on node " + pl.Node + ", on the host, after a check that no process uses it; the driver can then release the device."),
			remedy.Words("Run the kubelet on the host instead of in a container; until then bind its directory at one path only."),
		}
		return append(out, p)
	},
}
