package claim

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// oldDriverFull handles volumes of drivers inside Kubernetes, which have no
// VolumeAttachment: the backend's word, and what the node's status lists as attached.
func oldDriverFull(p *diagnosis.Pass, v *snapshot.Volume, w *snapshot.Consumer) {
	node := w.Node()
	n := p.Node(node)
	if n == nil || v.PV == nil || v.PV.Spec.CSI != nil || p.ReportedAttached(node, v) {
		return
	}
	plugin := v.Driver + "/"
	attached := 0
	for _, a := range n.Status.VolumesAttached {
		if strings.HasPrefix(string(a.Name), plugin) {
			attached++
		}
	}
	said, told := exhaustedText(p, v, node)
	if !told || attached == 0 {
		return
	}
	f := p.Find(report.Certain, diagnosis.NodeSubject(node)).On(v).Located(node)
	f.Pod(w.Pod)
	f.Fact(said, diagnosis.FromAPI("Node "+node, "status.volumesAttached", fmt.Sprintf("%d of %s", attached, v.Driver)))
	f.Sayf("Node %s has %d volumes of %s attached, and volume %s does not become attached: the backend says that no more can be.", node, attached, v.Driver, v.PVName())
	f.Unless("a further volume of the driver that becomes attached on the node")
	f.Advise(remedy.Words("Move pods to other nodes, add nodes, or use machines that take more disks. Attachments of mounted volumes are no place to make room."))
	p.Report(f)
}
