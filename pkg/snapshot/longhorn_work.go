package snapshot

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// LHBackup is backups.longhorn.io.
type LHBackup struct {
	metav1.ObjectMeta
	Raw            *unstructured.Unstructured // as it was read, for saving
	State, Message string
}

// LHSnapshot is snapshots.longhorn.io.
type LHSnapshot struct {
	metav1.ObjectMeta
	Raw   *unstructured.Unstructured // as it was read, for saving
	Ready bool
	Error string
}

// decodeLHBackup takes for the message what went wrong, else what the backup says of
// itself: status.messages is a map from kind to text.
func decodeLHBackup(b *LHBackup, f fields) {
	says := f.texts("status.messages")
	b.State = f.text("status.state")
	b.Message = cmp.Or(f.text("status.error"), says["error"], says["warning"], says["info"])
}

func decodeLHSnapshot(s *LHSnapshot, f fields) {
	s.Ready, s.Error = f.flag("status.readyToUse"), f.text("status.error")
}

// LHBackupTarget is backuptargets.longhorn.io.
type LHBackupTarget struct {
	metav1.ObjectMeta
	Raw         *unstructured.Unstructured // as it was read, for saving
	Unavailable bool                       // it says that it is not available; silence is no answer
}

func decodeLHBackupTarget(b *LHBackupTarget, f fields) {
	b.Unavailable = f.text("status.available") == "false"
}
