package volume

import (
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
)

// notFound is how who was asked for an object says that it has none.
var notFound = []string{"not found", "wasn't found", "not exist", "doesn't exist", "no such"}

// ofNode are words of a text that misses what a node should have of the volume: a link, a device node, a directory.
var ofNode = []string{"/dev/", "device", "path", "no such file"}

// Gone asks whether the last word about attaching or mounting a place's volume is that its storage knows none of that id,
// while no pod has it there: what the node still shows is what is left of it, and no state of a filesystem that is there explains the failure.
func Gone(pl *evidence.Place) evidence.Answer {
	v := pl.Volume
	if v == nil || len(v.LiveConsumersOn(pl.Node)) > len(v.WaitingOn(pl.Node)) {
		return evidence.No()
	}
	t, ok := pl.Refused().First(func(t evidence.Text) bool { return t.Attaches() || t.Mounts() })
	if !ok || !slices.ContainsFunc([]string{v.Handle, path.Base(v.Handle), v.PVName()}, func(name string) bool { return len(name) > 3 && misses(t, name) }) {
		return evidence.No()
	}
	return evidence.Yes(t.Evidence())
}

// misses tells whether a text says of a name, and of nothing on the node, that there is nothing of it.
func misses(t evidence.Text, name string) bool {
	_, after, named := strings.Cut(t.Desc, name)
	if !named || evidence.ContainsAny(strings.ToLower(t.Desc), ofNode...) {
		return false
	}
	return t.Is(message.VolumeUnknown) || evidence.ContainsAny(after[:min(len(after), 30)], notFound...)
}
