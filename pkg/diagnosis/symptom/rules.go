// Package symptom recognises what is wrong and wants a cause: one file per
// symptom. State is read first and texts second; a symptom that only an old text
// shows is past: it may support a cause and demands none.
package symptom

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"

// Rules are all symptoms, in the order of the report.
var Rules = []*diagnosis.SymptomRule{
	podWaitingForVolume,
	claimPending,
	attachFailed,
	multiAttachError,
	mountFailed,
	mountBusy,
	formatFailed,
	fsckFailed,
	unmountBlocked,
	detachStuck,
	volumeAttachLoop,
	volumeReadonly,
	volumeIOError,
	volumeHung,
	shareManagerFailing,
	expansionPending,
	modificationPending,
	podStuckTerminating,
	volumeDegraded,
}
