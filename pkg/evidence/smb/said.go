package smb

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// mountError is how mount.cifs(8) ends: "mount error(13): Permission denied". CephFS
// writes "mount error 13 = Permission denied".
var mountError = pattern.MustCompile(`mount error\((\d+)\)`)

// The errno numbers of mount.cifs, by what they speak of (cifs-utils mount.cifs.c,
// fs/smb/client/smb2maperror.c).
var (
	noConnection = []int{101, 110, 111, 113, 115}
	noRight      = []int{13, 127, 128}
	noFit        = []int{2, 5, 11, 22, 95, 112, 126, otherUser}
)

// otherUser is ERROR_SESSION_CREDENTIAL_CONFLICT, for which mount.cifs has no number: a node with Windows
// knows a server by one user name.
const otherUser = 1219

// windowsError is how New-SmbGlobalMapping ends, which csi-proxy runs on nodes with Windows.
var windowsError = pattern.MustCompile(`Windows System Error (\d+)\b`)

// ofWindows are its numbers (winerror.h) as those of mount.cifs that say the same: a path that was
// not found (53) may be a name as well as a network.
var ofWindows = map[int]int{
	5: 13, 65: 13, 86: 13, 1326: 13, 1327: 13, 1909: 13, 1330: 127, 1907: 127, 1331: 128,
	53: 115, 51: 115, 1231: 101, 121: 110, 1225: 111, 67: 2, 2: 2, 3: 2, 87: 22, otherUser: otherUser,
}

// logonOfWindows are those of them that speak of the account: its name, password or state.
var logonOfWindows = []int{86, 1326, 1327, 1330, 1331, 1907, 1909}

// Code is the number of mount.cifs with which the newest mount of the share failed; 0: none is known.
func (s Share) Code() int {
	if s.Text == nil {
		return 0
	}
	if n := last(mountError, s.Text.Raw); n != 0 {
		return n
	}
	return ofWindows[last(windowsError, s.Text.Raw)]
}

// last is the last number that a form finds in a text; 0: none.
func last(form *pattern.Pattern, text string) int {
	m := form.FindAllStringSubmatch(text, -1)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[len(m)-1][1])
	if err != nil {
		return 0
	}
	return n
}

func (s Share) said(codes []int) evidence.Answer {
	if !slices.Contains(codes, s.Code()) {
		return evidence.No()
	}
	return evidence.Yes(s.Text.Evidence())
}

// Unconnected asks whether mount.cifs itself got no connection, or no address.
func (s Share) Unconnected() evidence.Answer {
	if named := s.Named(); named.Yes() {
		return named
	}
	return s.said(noConnection)
}

// Named asks whether mount.cifs names the address that it could not connect to, or the
// name that it could not resolve: words that have no other meaning.
func (s Share) Named() evidence.Answer {
	if s.Text != nil && (strings.Contains(s.Text.Raw, "): could not connect to ") || s.unresolved()) {
		return evidence.Yes(s.Text.Evidence())
	}
	return evidence.No()
}

func (s Share) unresolved() bool {
	return strings.Contains(s.Text.Raw, "mount error: could not resolve address for ")
}

// Unresolved asks whether the server's name had no address where the mount is made.
func (s Share) Unresolved() bool { return s.Text != nil && s.unresolved() }

// Denied asks whether the server refused the user, by mount.cifs's number.
func (s Share) Denied() evidence.Answer { return s.said(noRight) }

// Expired tells whether the refusal is about the account and nothing else: its password
// expired (127), it is disabled (128).
func (s Share) Expired() bool { return s.Code() == 127 || s.Code() == 128 }

// Unfit asks whether the server, or the kernel, refused the request itself.
func (s Share) Unfit() evidence.Answer { return s.said(noFit) }

// Fails asks whether a mount of the share failed lately, in words that leave open why.
func (s Share) Fails() evidence.Answer {
	switch {
	case s.Text == nil:
		return evidence.No()
	case s.Code() == 0, s.Code() == 2, s.Code() == 112:
		return evidence.Yes(s.Text.Evidence()) // blocked networks have produced 2 as well
	}
	return s.said(noConnection)
}
