package symptom

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// formatFailed: a new filesystem or LUKS header could not be written.
var formatFailed = &diagnosis.SymptomRule{Name: "format-failed", Run: func(p *diagnosis.Pass) {
	toldOf(p, mounting(formats), func(v *snapshot.Volume, t diagnosis.Text) string {
		return fmt.Sprintf("The driver cannot format the device of %s: %s", name(v), evidence.Brief(t.Desc))
	})
}}

// fsckFailed: the check before mounting found what it could not repair, or could
// not work.
var fsckFailed = &diagnosis.SymptomRule{Name: "fsck-failed", Run: func(p *diagnosis.Pass) {
	toldOf(p, mounting(checks), func(v *snapshot.Volume, t diagnosis.Text) string {
		return fmt.Sprintf("The filesystem check of %s fails: %s", name(v), evidence.Brief(t.Desc))
	})
}}

func formats(t diagnosis.Text) bool {
	return is(t, message.FormatFailed, message.WillNotMakeFSMounted, message.InUseBySystem, message.ExistingFilesystem,
		message.MountsFilesystem, message.FormatFileMissing, message.LuksFormatFailed)
}

func checks(t diagnosis.Text) bool {
	return is(t, message.FsckUncorrected, message.FsckMounted, message.FsckUnsupported) ||
		is(t, message.NeedsFsck) && strings.Contains(t.Raw, "fsck")
}
