// Package smb answers questions about SMB shares: which one a volume is, what mount.cifs
// and the kernel said of it, and whether its server answers.
package smb

import (
	"net"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Share is the share that a volume is, at one place.
type Share struct {
	Source string // "//server/share/dir"
	Server string
	Port   string
	Text   *evidence.Text // the newest fresh text about mounting it on the place's node; nil: none
	Mount  *probes.Mount  // where it is mounted on the place's node; nil: nowhere
}

const port = "445"

// ShareOf finds the share of the place's volume: the attributes of the PV, its mount line, what
// mount was called with. ok is false when the volume is none of SMB.
func ShareOf(pl *evidence.Place) (Share, bool) {
	s := Share{Port: port}
	if volume.KindOf(pl.X, pl.Volume)&volume.SMB == 0 {
		return s, false
	}
	source, asked := pl.Volume.SMBShare()
	s.learn(source)
	if asked != port {
		s.Port = asked
	}
	for _, m := range pl.X.VolumeMounts(pl.Volume, pl.Node) {
		if m.Mount.SMB() {
			s.Mount = &m.Mount
			s.learn(m.Mount.Source)
			s.deepen(m.Mount.Source)
			if p := m.Mount.SuperValue("port"); p != "" {
				s.Port = p
			}
			break
		}
	}
	for _, t := range pl.Refused() {
		if ofShare(t) && !s.ofAnother(t) {
			s.Text = &t
			s.learn(t.MountSource)
			s.deepen(t.MountSource)
			break
		}
	}
	if s.Text == nil && s.Server != "" {
		s.Text = s.unmounted(pl)
	}
	return s, s.Server != ""
}

// unmounted is the newest fresh text that says that the volume does not get mounted, in
// words that leave open what was called: a deadline, the driver's own sentence, or that an earlier call still runs.
func (s Share) unmounted(pl *evidence.Place) *evidence.Text {
	for _, t := range pl.Refused() {
		if !t.Ordinary && !s.ofAnother(t) && (strings.HasPrefix(t.Op, "MountVolume.") || t.Is(message.Deadline)) {
			return &t
		}
	}
	return nil
}

// ofShare tells whether a text is about mounting a share: mount.cifs(8) speaks, or
// mount(8) was called for a filesystem of this kind.
func ofShare(t evidence.Text) bool {
	names := strings.HasPrefix(t.MountSource, "//") || strings.Contains(t.Args, "-t cifs") || strings.Contains(t.Args, "-t smb3")
	return !t.Ordinary && (names || mountError.MatchString(t.Raw))
}

// whom is the server in the words of mount.cifs.
var whom = pattern.MustCompile(`could not resolve address for ([\w.-]+)`)

// ofAnother tells whether a text is about another server's share than one that is known.
func (s Share) ofAnother(t evidence.Text) bool {
	var other Share
	if other.learn(t.MountSource); other.Server == "" {
		if m := whom.FindStringSubmatch(t.Raw); m != nil {
			other.Server = strings.TrimRight(m[1], ".")
		}
	}
	return s.Server != "" && other.Server != "" && !strings.EqualFold(s.Server, other.Server)
}

// learn takes a source, unless one is known.
func (s *Share) learn(source string) {
	rest, ok := strings.CutPrefix(strings.ReplaceAll(source, `\`, "/"), "//")
	if !ok || s.Server != "" {
		return
	}
	s.Source = "//" + rest
	s.Server, _, _ = strings.Cut(rest, "/")
}

// deepen takes a source that lies below the one that is known: the driver mounts a directory of the share
// that another attribute names (subDir of csi-driver-smb, also made of the claim's name), and the kernel's lines have it.
func (s *Share) deepen(source string) {
	below := strings.ReplaceAll(source, `\`, "/")
	if len(below) > len(s.Source) && strings.HasPrefix(strings.ToLower(below), strings.ToLower(strings.TrimRight(s.Source, "/"))+"/") {
		s.Source = below
	}
}

// Path is the share below the server: "finance" or "finance/2024".
func (s Share) Path() string {
	_, path, _ := strings.Cut(strings.TrimPrefix(s.Source, "//"), "/")
	return path
}

// addresses are the server's name and what it is reached by on a node.
func (s Share) addresses(view *snapshot.NodeView) []string {
	out := []string{s.Server}
	if s.Mount != nil {
		if a := s.Mount.SuperValue("addr"); a != "" {
			out = append(out, a)
		}
	}
	if view != nil {
		resolved := strings.Fields(view.Facts.Resolves[s.Server])
		out = append(out, evidence.Keep(resolved, func(a string) bool { return net.ParseIP(a) != nil })...)
	}
	return out
}
