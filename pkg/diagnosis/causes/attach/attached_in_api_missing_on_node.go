package attach

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"time"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed attached_in_api_missing_on_node.md
var attachedInAPIMissingOnNodeDoc string

// AttachedInAPIMissingOnNode finds a volume that the API calls attached while the
// node has no such disk.
var AttachedInAPIMissingOnNode = &diagnosis.Rule{
	Name: "attached-in-api-missing-on-node", Layer: diagnosis.Attach, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("storage.k8s.io/volumeattachments"), diagnosis.Probe("blockdev")},
	Explains: []string{"mount-failed", "pod-waiting-for-volume"},
	Offers:   []string{"delete-pod"},
	YieldsTo: []string{"iscsi-portal-unreachable", "iscsi-login-rejected", "iscsid-not-running", "iscsi-tools-missing", "iscsi-node-record-invalid"},
	Doc:      attachedInAPIMissingOnNodeDoc,
	Run:      missingOnNode,
}

// missingDiskForm is how drivers say that they do not find the disk which they were
// told is attached.
var missingDiskForm = regexp.MustCompile(`(?i)no device path for device|find disk by lun|re-link disk|non[- ]?existent (disk|device)|not attached to (this )?(node|instance|vm|host)|` +
	`(disk|device|volume)\b[^:]{0,80}\bnot found|(could not|couldn't|cannot|can't|unable to|failed to) (find|locate|get|discover) [^:]{0,60}(disk|device|lun|path)|` +
	`hasn't been attached|no such device|device path .*(does not|doesn't) exist|timed? ?out waiting for (the )?(disk|device)`)

func missingOnNode(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		if _, _, mapped := v.RBDImage(); mapped {
			continue // an image is mapped when it is staged: attaching makes no disk
		}
		if v.Handle == "" && !p.Has("/persistentvolumes") {
			continue // without the handle no disk can be told from the volume's
		}
		for _, va := range v.Attachments {
			waiters := waitersOn(v, va.Spec.NodeName)
			if !va.Status.Attached || va.DeletionTimestamp != nil || len(waiters) == 0 || p.Age(va.CreationTimestamp.Time) <= time.Minute {
				continue
			}
			t, said := textAbout(p, v, va.Spec.NodeName, missingDiskForm)
			if said = said && t.Fresh; !said {
				t = diagnosis.Text{}
			}
			if !said && siblingDisk(p, v, va.Spec.NodeName) == "" || v.Longhorn != nil && engineDown(p, v) {
				continue
			}
			if view, probed := p.Probed(va.Spec.NodeName); probed {
				judgeMissing(p, v, va, view, t)
			}
		}
	}
}

// siblingDisk names the disk of another volume of the same driver on the node that
// was identified by more than its mount: then attaching makes a disk there. Drivers
// that map or log in when they stage a volume show nothing of this kind before.
func siblingDisk(p *diagnosis.Pass, v *snapshot.Volume, node string) string {
	view := p.View(node)
	if view == nil {
		return ""
	}
	for _, o := range p.Index.Volumes {
		d, ok := p.DeviceOn(o, node)
		if o == v || o.Driver != v.Driver || !ok || !d.Proven || d.Block == nil {
			continue
		}
		if strings.HasPrefix(d.Block.Name, "rbd") || strings.HasPrefix(d.Block.Name, "nbd") || strings.HasPrefix(d.Block.Name, "drbd") ||
			strings.HasPrefix(d.Block.Name, "loop") || strings.HasPrefix(d.Block.Name, "dm-") || view.SessionOfDisk(d.Block.Name) != nil ||
			d.Block.Transport != "" && d.Block.Transport != "pcie" {
			continue
		}
		return d.Block.Name
	}
	return ""
}

// engineDown tells whether Longhorn itself says that there is no block device.
func engineDown(p *diagnosis.Pass, v *snapshot.Volume) bool {
	return !p.BlockDeviceUp(v)
}

func judgeMissing(p *diagnosis.Pass, v *snapshot.Volume, va *storagev1.VolumeAttachment, view *snapshot.NodeView, t diagnosis.Text) {
	node := view.Name
	if _, found := p.DeviceOn(v, node); found {
		return
	}
	if len(view.Facts.Block) == 0 || !evidence.Ended(p.Index, node, probes.Block).Complete() {
		return // that a disk is not in a list that ends early says nothing
	}
	d := compareDisks(v, view)
	if d.Match || d.Unclaimed != "" {
		return // a disk of the volume's identity or size is there: its name or link is missing
	}
	f := p.Find(report.Certain, diagnosis.ObjectSubject("VolumeAttachment", "", va.Name)).On(v).Located(node)
	f.Object("va", va.Name)
	f.Fact(attachedEvidence(va), t.Evidence())
	f.Fact(d.Evidence...)
	if t.Raw == "" {
		f.Missing("the driver's own word that it does not find the disk")
		f.Fact(diagnosis.FromNode(node, "sys/class/block", "other volumes of driver "+v.Driver+" are there as disks: "+siblingDisk(p, v, node)))
	}
	if sibling := siblingDisk(p, v, node); d.Stranger != "" && sibling == "" {
		f.Missing("whether disk " + d.Stranger + ", which has the volume's size and no user, is the volume under an identity that its handle does not tell")
		f.Certainty = report.Possible
	}
	if len(d.Blank) > 0 {
		f.Certainty = report.Possible
	}
	waiters := waitersOn(v, node)
	for _, w := range waiters {
		f.Pod(w)
		f.Fact(diagnosis.FromAPI(podFact(w)))
	}
	seen := fmt.Sprintf("none of its %d disks carries the volume's identity", d.Count)
	if len(d.Blank) > 0 {
		seen += " (" + list(d.Blank) + " carry none at all, so they cannot be told apart)"
	}
	f.Sayf("VolumeAttachment %s has said for %s that volume %s is attached to node %s, but the node does not have the disk: %s. "+
		"The storage backend detached it after it was attached, or never attached it; pod %s waits.",
		va.Name, ago(p, va.CreationTimestamp.Time), volumeName(v), node, seen, podName(waiters[0]))
	f.Fact(removedDisks(view, va.CreationTimestamp.Time)...)
	f.Unless("a disk on node " + node + " whose serial, WWID, IQN or by-id link is the volume's")
	w := waiters[0]
	if snapshot.HasController(w) {
		f.Advise(remedy.DeletePod(w, true, "the pod waits and mounts nothing; when it is gone the attachment is undone, and made again for the next pod"))
	} else {
		f.Advise(remedy.Words("Save the manifest of pod " + podName(w) + ", delete it, wait until the attachment is gone, and create it again."))
	}
	f.Advise(remedy.Words("Look in the storage backend for a detach of this volume that ended after the attach, and leave the attachment's finalizer alone: the attacher must undo what the API says."))
	p.Report(f)
}
