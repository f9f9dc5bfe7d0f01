package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in    string
		width int
		want  []string
	}{
		"words":       {"one two three", 8, []string{"one two", "three"}},
		"long path":   {"see /var/lib/kubelet/plugins there", 12, []string{"see", "/var/lib/kubelet/plugins", "there"}},
		"empty":       {"", 4, []string{""}},
		"newline":     {"a\nb", 4, []string{"a b"}},
		"quotation":   {`the reasons say "not found" here`, 24, []string{"the reasons say", `"not found" here`}},
		"long quote":  {`it says "a b c d e f"`, 10, []string{`it says "a`, "b c d e f\""}},
		"apostrophe":  {"the pod's name and its node's", 14, []string{"the pod's name", "and its node's"}},
		"wide glyphs": {"名名名 名名", 8, []string{"名名名", "名名"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, wrap(c.in, c.width)); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestShellWords asks that lines break only where a shell splits words, and that
// the words are all there.
func TestShellWords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"plain":           {"a b  c", []string{"a", "b", "c"}},
		"single":          {"sh -c 'a b' d", []string{"sh", "-c", "'a b'", "d"}},
		"quote in single": {`multipath -f 'it'\''s; reboot;'\'' x' y`, []string{"multipath", "-f", `'it'\''s; reboot;'\'' x'`, "y"}},
		"escaped blank":   {`a\ b c`, []string{`a\ b`, "c"}},
		"double":          {`"a \" b" c`, []string{`"a \" b"`, "c"}},
		"backslash":       {`'a\' b`, []string{`'a\'`, "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, shellWords(c.in)); diff != "" {
				t.Errorf("words differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(strings.Join(c.want, " "), strings.Join(shell(c.in, 8, 8), " ")); diff != "" {
				t.Errorf("lines do not add up (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMiddle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in    string
		width int
		want  string
	}{
		"fits":   {"sdc", 3, "sdc"},
		"uid":    {"pvc-3b0f9a4e-6c21-4c39-9d0e-5b7f2f6f1a90", 20, "pvc-3b0f9a4e…1a90"},
		"path":   {"/var/lib/kubelet/pods/1/volumes/x/mount", 15, "/var/li…x/mount"},
		"narrow": {"abcdef", 2, "ab"},
		"glyphs": {"名前の長い名前", 7, "名…前"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := middle(c.in, c.width)
			if got != c.want || columns(got) > c.width {
				t.Errorf("middle(%q, %d) = %q (%d columns), want %q", c.in, c.width, got, columns(got), c.want)
			}
		})
	}
}

// TestLastLines: of a text that is too long its end is kept, and all of it that the lines take.
func TestLastLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		width int
		most  int
		want  []string
	}{
		"it fits to the last column":  {"one two three", 13, 1, []string{"one two three"}},
		"its last line is filled":     {"one two three four", 13, 1, []string{"… three four"}},
		"two lines are filled":        {"zero one two three four five six", 13, 2, []string{"… two three", "four five six"}},
		"a decision":                  {"pods \"p\" is forbidden: violates this: a, b, c, d, e", 15, 2, []string{"… is", "forbidden: …"}},
		"a decision that fits":        {"one two three pods \"p\" is forbidden: so", 20, 1, []string{"… is forbidden: so"}},
		"a word that is wider itself": {"one twoooooooooooooooooo", 13, 1, []string{"twoooo…oooooo"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, lastLines(c.text, c.width, c.most)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := report.Gist("0/3 nodes are available:\n 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No victims."); got != "0/3 nodes are available: 3 Insufficient cpu." {
		t.Error(got)
	}
	for _, text := range []string{
		"Body: [code=Server Error, detail=, message=no disk] from [http://longhorn-backend:9500/v1/volumes/v?action=expand]",
		"Body: [message=no disk, code=Server Error, detail=] from [http://longhorn-backend:9500/v1/volumes/v?action=attach]",
	} {
		if got := report.Gist(text); !strings.HasSuffix(got, "message=no disk") {
			t.Error(got)
		}
	}
}

// TestHeadOfTheInnermost: what wraps a message goes, and of one that is still too long both ends stay.
func TestHeadOfTheInnermost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"it fits without its wrapping":     {"MountVolume.SetUp failed for volume \"pv\" : rpc error: code = Internal desc = the pool is full", []string{"… rpc error: code = Internal", "desc = the pool is full"}},
		"as much of the wrapping as fits":  {"rpc error: code = Internal desc = cannot attach it: rpc error: code = Aborted desc = busy", []string{"… cannot attach it: rpc error:", "code = Aborted desc = busy"}},
		"both ends":                        {"rpc error: code = Unknown desc = the pool is full, says the storage after it was asked for a volume, and the size was 9", []string{"… the pool is full, says the", "… a volume, and the size was 9"}},
		"nothing stands behind a wrapping": {"a b rpc error: code = Unknown desc = x rpc error: code = Unknown desc = ", []string{"… x rpc error: code = Unknown", "desc ="}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, lastLines(c.text, 30, 2)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestWordsFirst: what somebody said comes before what an object shows, each in its order.
func TestWordsFirst(t *testing.T) {
	t.Parallel()
	var list []report.Evidence
	for _, l := range []string{"api Pod a/b status.phase", "api VolumeAttachment v status.attachError", "event Event Pod a/b",
		"api Pod a/b status.containerStatuses[app].state.waiting.reason", "api Pod a/b status.containerStatuses[app].state.waiting"} {
		source, place, _ := strings.Cut(l, " ")
		list = append(list, report.Evidence{Source: source, Locator: place})
	}
	got := ""
	for _, e := range wordsFirst(list) {
		got += e.Locator[strings.LastIndexAny(e.Locator, " .")+1:] + " "
	}
	if got != "attachError a/b waiting phase reason " {
		t.Error(got)
	}
}
