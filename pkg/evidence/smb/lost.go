package smb

import (
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// again is within what time a kernel says once more that a share is not there.
const again = 2 * time.Minute

// lost is the misfit of a mount that stands, and below which the server has something else, or nothing. A port
// that does not answer now is what counts.
func (s Share) lost(pl *evidence.Place) Misfit {
	answers := s.Answers(pl)
	gone, replaced := s.statfs(pl, []string{"ENOENT"}), s.statfs(pl, []string{"ESTALE"})
	switch unshared := s.Unshared(pl); {
	case answers.No():
	case unshared.Yes():
		return Misfit{Says: "unshared", Is: unshared, Line: evidence.Yes()}
	case gone.Yes(): // a path that goes while it is asked answers so, too
		return Misfit{Says: "gone", Is: gone, Line: evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/kernelLog", Node: pl.Node, Why: "no line that says what is gone"})}
	case replaced.Yes(): // the number of its root is another (cifs_get_inode_info in fs/smb/client/inode.c)
		return Misfit{Says: "replaced", Is: replaced, Line: answers}
	}
	return Misfit{Is: evidence.No()}
}

// Unshared asks whether the mount does not answer and the kernel says of late that the server has no such share:
// what asks again for the tree of a share that was deleted ends with ENOENT, and since 5.15 with EAGAIN
// (smb2_reconnect in fs/smb/client/smb2pdu.c).
func (s Share) Unshared(pl *evidence.Place) evidence.Answer {
	lost := s.statfs(pl, append([]string{"ENOENT"}, silent...))
	if !lost.Yes() || s.Answers(pl).No() {
		return evidence.No()
	}
	return evidence.All(lost, s.noTree(pl))
}

// noTree are the kernel's lines that the server does not know the share by its name. They come again every two
// seconds for as long as that is so (smb2_reconnect_server in fs/smb/client/smb2pdu.c).
func (s Share) noTree(pl *evidence.Place) evidence.Answer {
	share := strings.Join(strings.SplitN(strings.TrimPrefix(s.Source, "//"), "/", 3)[:2], "/")
	for _, l := range slices.Backward(pl.View.Facts.Kernel) {
		if ofCIFS.MatchString(l.Text) && (strings.Contains(l.Text, "BAD_NETWORK_NAME") || strings.Contains(l.Text, "reconnect tcon failed rc = -2")) && !l.At.IsZero() && pl.X.Age(l.At) < again &&
			slices.ContainsFunc(strings.Fields(clean(l.Text)), func(w string) bool { return strings.EqualFold(strings.Trim(w, "/"), share) }) {
			return evidence.Yes(evidence.FromNode(pl.Node, "@kmsg", l.Text))
		}
	}
	return pl.Tables(probes.KernelLog).Found()
}
