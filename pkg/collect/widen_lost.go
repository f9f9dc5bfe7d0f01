package collect

import (
	"slices"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// refused tells whether a driver failed to attach a volume that no node serves to the others.
func refused(v *snapshot.Volume) bool {
	return !v.RegularRWX() && slices.ContainsFunc(v.Attachments, func(va *storagev1.VolumeAttachment) bool { return va.Status.AttachError != nil })
}

// mostLost is how many lost nodes are read by name; where there are more, one page of all is.
const mostLost = 4

// widenLost: a volume that was taken from a lost node by force is named by nothing but that
// node's status.volumesInUse. Which nodes were lost lately the node controller has told in events.
func (c *collector) widenLost(x *snapshot.Index, v *snapshot.Volume) {
	if v.PV == nil || !v.Exclusive() || !attaches(x, v) {
		return
	}
	c.want(want{res: events, fields: "involvedObject.kind=Node,reason=" + nodeNotReady})
	var lost []string
	for _, e := range x.Cluster.Events {
		if e.Kind == "Node" && e.Reason == nodeNotReady && !slices.Contains(lost, e.ObjName) {
			lost = append(lost, e.ObjName)
		}
	}
	if len(lost) > mostLost {
		c.want(want{res: nodes, pages: 1})
		return
	}
	for _, n := range lost {
		c.byName(nodes, "", n)
	}
}

// nodeNotReady is the reason of the node controller's event about a node that stopped to report
// (RecordNodeStatusChange in pkg/controller/util/node of Kubernetes).
const nodeNotReady = "NodeNotReady"

// attaches tells whether a volume is attached to a node before it is mounted.
func attaches(x *snapshot.Index, v *snapshot.Volume) bool {
	if v.PV == nil || v.PV.Spec.CSI != nil {
		return v.AttachRequired(x)
	}
	s := &v.PV.Spec
	return s.NFS == nil && s.HostPath == nil && s.Local == nil && s.CephFS == nil && s.Glusterfs == nil && s.AzureFile == nil
}
