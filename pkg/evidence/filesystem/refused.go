package filesystem

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
)

// MountRefused asks for a fresh refusal to mount the volume here that has no better reason
// than mount's all-purpose words: what the kernel logs stands in none of them.
func MountRefused(pl *evidence.Place) evidence.Answer {
	return pl.Refused().Say(func(t evidence.Text) bool {
		return t.Is(message.WrongFSType) || t.Is(message.DuplicateUUID)
	})
}
