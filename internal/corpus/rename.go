package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Renaming changes names throughout a case: in objects, recordings, logs and what is wanted.
type Renaming struct {
	words map[string]string
	first map[byte][]string // the old names by their first letter, longest first
}

// NewRenaming changes names, and what is made of them: the hashes in the names of attachments
// and staging directories, and the units of systemd.
func NewRenaming(s *snapshot.Snapshot, words map[string]string) *Renaming {
	plain, all := renaming(words), maps.Clone(words)
	for old, name := range words {
		if strings.Contains(old, "-") && !strings.Contains(old, "/") {
			all[unitName(old)] = unitName(name)
		}
	}
	for _, pv := range s.Cluster.PVs {
		if pv.Spec.CSI == nil {
			continue
		}
		handle, driver := pv.Spec.CSI.VolumeHandle, pv.Spec.CSI.Driver
		all[hash(handle)] = hash(plain.Text(handle))
		nodes := map[string]bool{}
		for _, n := range s.Cluster.Nodes {
			nodes[n.Name] = true
		}
		for _, va := range s.Cluster.Attachments {
			nodes[va.Spec.NodeName] = true
		}
		for n := range nodes {
			all[snapshot.AttachmentName(handle, driver, n)] = snapshot.AttachmentName(plain.Text(handle), driver, plain.Text(n))
		}
	}
	return renaming(all)
}

func unitName(s string) string { return strings.ReplaceAll(s, "-", `\x2d`) }

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func renaming(words map[string]string) *Renaming {
	r := &Renaming{words: words, first: map[byte][]string{}}
	for old := range words {
		r.first[old[0]] = append(r.first[old[0]], old)
	}
	for _, list := range r.first {
		slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	}
	return r
}

// Text changes the names that stand alone in a text.
func (r *Renaming) Text(s string) string {
	var out strings.Builder
	last := 0
	for i := 0; i < len(s); i++ {
		if i > 0 && letter(s[i-1]) && letter(s[i]) && !lineBreak(s[:i]) {
			continue
		}
		for _, old := range r.first[s[i]] {
			if end := i + len(old); strings.HasPrefix(s[i:], old) && (end == len(s) || !letter(s[end]) || !letter(s[end-1])) {
				out.WriteString(s[last:i] + r.words[old])
				last, i = end, end-1
				break
			}
		}
	}
	return out.String() + s[last:]
}

func letter(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// lineBreak tells an escaped one, as JSON has it.
func lineBreak(s string) bool { return strings.HasSuffix(s, `\n`) || strings.HasSuffix(s, `\t`) }

// Write writes the case of a directory below another one, renamed.
func (r *Renaming) Write(dir, to string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		out := filepath.Join(to, r.path(rel))
		if err := os.MkdirAll(filepath.Dir(out), 0o700); err != nil {
			return err
		}
		return os.WriteFile(out, []byte(r.Text(string(data))), 0o600)
	})
}

// path changes the names of nodes, pods and containers in the name of a file.
func (r *Renaming) path(rel string) string {
	dir, rest, ok := strings.Cut(filepath.ToSlash(rel), "/")
	if !ok || dir == "cluster" {
		return rel
	}
	for _, ext := range []string{".previous.log", ".log", ".txtar"} {
		if stem, ok := strings.CutSuffix(rest, ext); ok {
			return filepath.Join(dir, filepath.FromSlash(r.Text(stem))) + ext
		}
	}
	return rel
}
