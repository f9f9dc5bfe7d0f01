package longhorn

import (
	"strings"
	"time"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// longBackup is how long a backup may take and still be waited for.
const longBackup = 24 * time.Hour

// Busy is a ticket of a backup that is being made on the node that Kubernetes detaches the
// volume from.
type Busy struct {
	*snapshot.LHTicket
	Backup string
	VA     *storagev1.VolumeAttachment // it waits to go
	Is     evidence.Answer
	Waits  evidence.Answer // this release does not let the volume go before the backup ends
}

// BusyOf finds it. Longhorn 1.7.0 to 1.7.2 and 1.8.0 refuse ControllerUnpublishVolume while the
// volume is attached for something else (longhorn/longhorn#10171); any other release detaches,
// and interrupts the backup.
func BusyOf(pl *evidence.Place) (Busy, bool) {
	v := pl.Volume.LH()
	if v == nil {
		return Busy{}, false
	}
	for _, t := range pl.Volume.Tickets() {
		s := servedBy(pl.X, t)
		running := strings.EqualFold(s.state, "InProgress") && pl.X.Age(s.since) < longBackup
		va := pl.Volume.AttachmentOn(t.NodeID)
		if t.Type != "backup-controller" || !running || v.Status.CurrentNodeID != t.NodeID || va == nil || va.DeletionTimestamp == nil || len(pl.Volume.LiveConsumersOn(t.NodeID)) > 0 {
			continue
		}
		return Busy{LHTicket: t, Backup: s.name, VA: va, Waits: refusesDetach(pl.X),
			Is: evidence.Yes(Ticket{LHTicket: t}.Fact(pl.Volume), evidence.FromAPI("Backup "+s.name, "status.state", s.state),
				evidence.FromAPI("VolumeAttachment "+va.Name, "metadata.deletionTimestamp", va.DeletionTimestamp.UTC().Format(time.RFC3339)))}, true
	}
	return Busy{}, false
}

func refusesDetach(x *snapshot.Index) evidence.Answer {
	n, known := Version(x)
	if !known {
		return evidence.Unseen(evidence.Lack{Need: "the release of Longhorn", Why: "setting current-longhorn-version was not read"})
	}
	return evidence.When(n >= 10700 && n < 10703 || n == 10800, evidence.FromAPI("Setting current-longhorn-version", "value", x.LonghornVersion()))
}
