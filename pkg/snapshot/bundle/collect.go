package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// file is one file of a bundle.
type file struct {
	data     []byte
	modified time.Time
}

// collection is every file of a bundle that may say something, by its name with
// slashes; those of archives inside stand below the archive's name.
type collection struct {
	limits  snapshot.Limits
	total   int64
	entries int
	files   map[string]file
	gaps    []snapshot.Gap
	zipped  bool
}

// archives may lie in a bundle (nodes/NODE.zip), and those not deeper.
const maxDepth = 2

// path collects a directory, an archive or a single file, which errors call by its name.
func (c *collection) path(at, name string) error {
	info, err := os.Stat(at)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return c.dir(at)
	case !info.Mode().IsRegular():
		return errors.New("it is neither a directory nor a file")
	}
	f, err := os.Open(at)
	if err != nil {
		return err
	}
	defer f.Close()
	return c.stream(name, f, info, 0)
}

// stream collects what a file is: an archive, or objects.
func (c *collection) stream(name string, f readable, info fs.FileInfo, depth int) error {
	head := make([]byte, 512)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	head = head[:n]
	prefix := ""
	if depth > 0 {
		prefix = name + "/"
	}
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		c.zipped = c.zipped || depth == 0
		return c.zip(prefix, f, info.Size(), depth)
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return c.gzip(prefix, name, f, modified(info), depth)
	case isTar(head):
		return c.tar(prefix, f, depth)
	}
	for _, a := range strange {
		if bytes.HasPrefix(head, a.magic) {
			return fmt.Errorf("it is %s: unpack it and name the directory", a.name)
		}
	}
	data, err := c.read(name, f)
	if err != nil {
		return err
	}
	return c.add(name, data, modified(info), depth)
}

// strange are archives that are not read.
var strange = []struct {
	magic []byte
	name  string
}{
	{[]byte("BZh"), "packed with bzip2"}, {[]byte("\xfd7zXZ\x00"), "packed with xz"}, {[]byte("\x28\xb5\x2f\xfd"), "packed with zstd"}, {[]byte("7z\xbc\xaf"), "packed with 7-Zip"},
}

type readable interface {
	io.Reader
	io.ReaderAt
}

// refuse notes an entry that is not read.
func (c *collection) refuse(name, why string) {
	c.gaps = append(c.gaps, snapshot.Gap{Need: "object/" + name, Reason: snapshot.Malformed, Detail: why})
}

// cut notes that a part of the bundle is lost, nobody knows which: nothing is whole.
func (c *collection) cut(name string, err error) {
	c.gaps = append(c.gaps, snapshot.Gap{Need: "api", Reason: snapshot.Truncated, Detail: fmt.Sprintf("the bundle could not be read whole: %s: %v", name, err)})
}

// count is what every entry costs.
func (c *collection) count() error {
	if c.entries++; c.entries > c.limits.Entries {
		return fmt.Errorf("more than %d files", c.limits.Entries)
	}
	return nil
}

// read reads an entry within the limits, or refuses the bundle by its name.
func (c *collection) read(name string, r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, min(c.limits.File, c.limits.Total-c.total)+1))
	c.total += int64(len(data))
	switch {
	case int64(len(data)) > c.limits.File:
		return nil, tooLarge{fmt.Sprintf("%q is larger than %d bytes", name, c.limits.File)}
	case c.total > c.limits.Total:
		return nil, tooLarge{fmt.Sprintf("the bundle is larger than %d bytes (at %q)", c.limits.Total, name)}
	}
	return data, err
}

// tooLarge ends the reading: a bomb is not unpacked further.
type tooLarge struct{ text string }

func (e tooLarge) Error() string { return e.text }

// fatal tells whether nothing more may be read.
func fatal(err error) bool {
	var large tooLarge
	return errors.As(err, &large)
}

// add keeps a file, or unpacks it when it is an archive.
func (c *collection) add(name string, data []byte, at time.Time, depth int) error {
	if packed.MatchString(name) && depth < maxDepth && len(data) > 0 {
		inner := bytes.NewReader(data)
		err := c.stream(name, inner, sized{int64(len(data)), at}, depth+1)
		if err != nil && !fatal(err) {
			c.refuse(name, "the archive could not be read: "+err.Error())
			return nil
		}
		return err
	}
	if _, twice := c.files[name]; twice {
		c.refuse(name, "stands twice in the bundle; the first one counts")
		return nil
	}
	c.files[name] = file{data, at}
	return nil
}

var (
	packed = regexp.MustCompile(`\.(zip|tar|tgz|tar\.gz)$`)
	// telling are the files that may hold something: objects, logs, what nodes say.
	telling = regexp.MustCompile(`(?i)\.(ya?ml|json|log|txt|conf|out)(\.1)?$|(^|/)(hostinfo|kernel_config|proc_mounts|processes_info|dmesg|syslog|messages|timestamp)$`)
)

// wanted tells whether an entry is kept.
func wanted(name string) bool {
	base := path.Base(name)
	return !strings.HasPrefix(base, "._") && (telling.MatchString(name) || packed.MatchString(name))
}

// entryName is the name of an archive's entry, or why it is refused.
func entryName(raw string) (string, error) {
	name := strings.TrimSuffix(raw, "/")
	for strings.HasPrefix(name, "./") {
		name = strings.TrimPrefix(name, "./")
	}
	if name == "" {
		name = "."
	}
	if strings.ContainsAny(name, "\x00\\") || path.Clean(name) != name || !fs.ValidPath(name) {
		return "", errors.New("its name leads outside of the bundle")
	}
	return name, nil
}

// dir collects a directory. Links are not followed: a bundle is data of others and
// must not make us read files of our own.
func (c *collection) dir(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			c.refuse(name, err.Error())
			return nil
		}
		if err := c.count(); err != nil {
			return err
		}
		switch {
		case entry.IsDir():
			return nil
		case !entry.Type().IsRegular():
			c.refuse(name, "it is a link or a special file, which is not followed")
			return nil
		case !wanted(name):
			return nil
		}
		return c.inDir(root, name)
	})
}

func (c *collection) inDir(root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		c.refuse(name, err.Error())
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	data, err := c.read(name, f)
	if err != nil {
		return err
	}
	return c.add(name, data, modified(info), 0)
}

// names are the names of all files, sorted.
func (c *collection) names() []string {
	out := make([]string, 0, len(c.files))
	for name := range c.files {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// ours tells whether this is a snapshot of our own: its header lies at the top or in
// the only directory.
func (c *collection) ours() bool {
	for _, name := range c.names() {
		if path.Base(name) == "snapshot.yaml" && strings.Count(name, "/") <= 1 && bytes.Contains(c.files[name].data, []byte("mountdoctor.io/")) {
			return true
		}
	}
	return false
}

func (c *collection) bytes() map[string][]byte {
	out := map[string][]byte{}
	for name, f := range c.files {
		out[name] = f.data
	}
	return out
}

// newest is the latest time at which a file was written.
func (c *collection) newest() time.Time {
	var all []time.Time
	for _, f := range c.files {
		all = append(all, f.modified)
	}
	if len(all) == 0 {
		return time.Time{}
	}
	return slices.MaxFunc(all, time.Time.Compare)
}
