package mount

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/mounts"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// MountPropagationOff finds host mounts that must be shared and are private.
var MountPropagationOff = &diagnosis.Rule{
	Name: "mount-propagation-off", Layer: diagnosis.Mount, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging, diagnosis.Publishing, diagnosis.Starting, diagnosis.Using},
	LeadsTo: []string{"mount-missing-under-pod", "longhorn-control-plane-down", "csi-plugin-not-registered"},
	Asks:    diagnosis.EachNode | diagnosis.EachPod,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Node == "" {
			return nil
		}
		add := func(says, point string, state, last evidence.Answer, with words.Fields) *diagnosis.Proof {
			with["node"], with["mount"] = pl.Node, point
			p := &diagnosis.Proof{
				Subject: diagnosis.NodeSubject(pl.Node), Says: says, With: with, State: []evidence.Answer{state}, Last: []evidence.Answer{last},
				Steps: []remedy.Step{remedy.Words("Make the mount shared on node " + pl.Node + " with `mount --make-rshared " + point + "`, and let a unit or an init script do so at every boot before the container runtime starts. " +
					"Leave mountPropagation in the pod as it is: without it the message disappears, and the pod pins mounts instead."),
					remedy.Words("Then let the driver's pod on the node start anew: a container that runs keeps the mounts with which it started.")},
			}
			p.Node(pl.Node)
			return p
		}
		var out []*diagnosis.Proof
		read := pl.View != nil && pl.View.Init != nil
		demands := mounts.DemandsOf(pl)
		for _, d := range demands {
			if !read && !d.Refused() {
				continue
			}
			who := pods.Owned(pl.X, d.Pod)
			with := words.Fields{"path": d.Path, "pod": strings.ToUpper(who[:1]) + who[1:], "refused": ""}
			if d.Path == d.Point {
				with["path"] = ""
			}
			if d.Refused() {
				with["refused"] = "the container runtime refuses to create its container"
			}
			p := add("private", d.Point, evidence.All(d.Private(), d.Harms()), evidence.All(d.Now(), evidence.Resource(pl.X, "/pods").Nothing()), with)
			p.Pod(d.Pod)
			out = append(out, p)
		}
		if says, off := mounts.Unpropagated(pl); !read && off.Yes() && len(demands) > 0 && pl.Pod == nil {
			out = append(out, add("longhorn", "/", off, pl.Tables(probes.Mounts).Nothing(), words.Fields{"says": says}))
		}
		if len(demands) > 0 && read {
			out = append(out, diagnosis.Rest(pl.Tables(probes.Mounts)))
		}
		return out
	},
}
