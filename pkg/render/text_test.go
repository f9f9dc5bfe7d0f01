package render

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

func text(t *testing.T, r *report.Report, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextFitsThePage(t *testing.T) {
	t.Parallel()
	for _, width := range []int{80, 100, 132} {
		for i, l := range strings.Split(text(t, sample(), Options{Width: width}), "\n") {
			if n := columns(l); n > width && len(strings.Fields(strings.Trim(l, " │"))) > 1 && !strings.Contains(l, "$ ") {
				t.Errorf("width %d, line %d has %d columns: %s", width, i+1, n, l)
			}
		}
	}
}

func TestColorAddsNothing(t *testing.T) {
	t.Parallel()
	ansi := regexp.MustCompile("\x1b\\[[0-9;]*m")
	painted := text(t, sample(), Options{Color: true})
	if !ansi.MatchString(painted) {
		t.Fatal("no colour in the coloured report")
	}
	if diff := cmp.Diff(text(t, sample(), Options{}), ansi.ReplaceAllString(painted, "")); diff != "" {
		t.Errorf("colour changes the words (-plain +painted):\n%s", diff)
	}
}

// TestTextCountsWhatIsOpen: a symptom with no more than a possible cause is not explained by it.
func TestTextCountsWhatIsOpen(t *testing.T) {
	t.Parallel()
	r := sample()
	r.Unexplained = append(r.Unexplained, report.Unexplained{Symptom: r.Symptoms[0]})
	if got := text(t, r, Options{}); strings.Contains(got, "explains") {
		t.Errorf("what is listed as unexplained counts as explained:\n%s", got)
	}
}

// TestTextSaysWhenItIsTriedAnew: who has just cured a mount sees it at the kubelet's next try.
func TestTextSaysWhenItIsTriedAnew(t *testing.T) {
	t.Parallel()
	r := sample()
	r.RootCauses, r.Findings, r.TakenAt = nil, nil, "2026-05-04T10:00:00Z"
	for name, c := range map[string]struct {
		step, last, read string
		want             bool
	}{
		"a mount":            {"stage", "2026-05-04T09:59:00Z", "", true},
		"an attach":          {"attach", "2026-05-04T09:59:00Z", "", false},
		"nobody tries it":    {"stage", "2026-05-04T09:50:00Z", "", false},
		"a capture of old":   {"stage", "2026-05-04T09:59:00Z", "2026-05-05T10:00:00Z", false},
		"nobody said a word": {"stage", "", "", false},
	} {
		r.Unexplained[0].Step, r.Unexplained[0].Last, r.Unexplained[0].Answer, r.ReadAt = c.step, c.last, "The driver refuses.", c.read
		if got := text(t, r, Options{}); strings.Contains(got, "next try within 2m") != c.want {
			t.Errorf("%s: want the next try said: %t\n%s", name, c.want, got)
		}
	}
}

func TestTextSaysTheAnswer(t *testing.T) {
	t.Parallel()
	got := flat(text(t, sample(), Options{}))
	for _, want := range []string{
		"BROKEN pvc shop/data-db-0 for 14m", "made the map mpatha", "certain · multipath-claims-device",
		"FIX 1 Flush this one map. [reversible] $ kubectl debug", "safe because worker-2 proc/*/mountinfo: neither the map",
		"WHY pod db-0 → PVC ✗ sdc", "worker-2 sys/class/block/sdc/holders/dm-3 dm-3", "already mounted or mount point busy",
		"UNEXPLAINED detach-stuck", "NOT LOOKED AT node worker-3", "mount-pinned-in-namespace",
		"explains 1 of 1 symptom", "not checked: node worker-3", "more: -o wide · kubectl mountdoctor explain multipath-claims-device",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the report does not say %q:\n%s", want, got)
		}
	}
}

func TestWideSaysEverything(t *testing.T) {
	t.Parallel()
	got := flat(text(t, sample(), Options{Wide: true}))
	for _, want := range []string{
		"BROKEN pvc shop/data-db-0", "✗", "multipath-claims-device certain, blocking", "worker-2: sys/class/block/sdc/holders/dm-3",
		"already mounted or mount point busy", "safe because: worker-2 proc/*/mountinfo: neither the map", "undo: $ multipath -r", "verify: $ ls", "Refuted by:",
		"└─ longhorn-share-manager-down", "UNEXPLAINED detach-stuck", "could be: mount-pinned-in-namespace", "NOISE", "NOT CHECKED node/worker-3",
		"TIMELINE", "kubectl mountdoctor explain multipath-claims-device",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the report does not say %q:\n%s", want, got)
		}
	}
}

// flat is a text without its lines.
func flat(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("│", "", "\\\n", "").Replace(s)), " ")
}

func TestTextIsSafeForATerminal(t *testing.T) {
	t.Parallel()
	evil := "a\x1b]0;owned\x07\x9b31m\u202egnp.exe\u200b\xff\rz"
	r := sample()
	r.Summary, r.Error, r.Subject.Name, r.TakenAt, r.Server = evil, evil, evil, evil, evil
	r.Chain[0].Name, r.Chain[1].Note = evil, evil
	c := &r.RootCauses[0]
	c.Name, c.Message, c.Subject.Name, c.Refutation = evil, evil, evil, evil
	c.Evidence[0] = report.Evidence{Source: evil, Node: evil, Locator: evil, Text: evil}
	c.Remedies[0] = report.Remedy{Title: evil, Commands: []string{evil}, Risk: evil, Settle: evil, SafeBecause: []report.Evidence{c.Evidence[0]}, Undo: []string{evil}, Verify: []string{evil}}
	c.ID, r.Findings[0].CausedBy = evil, evil
	r.Findings[0].Message, r.Findings[0].Name = evil, evil
	r.Noise[0].Message, r.Unexplained[0].Message, r.NotChecked[0].Detail = evil, evil, evil
	r.NotChecked[0].Need, r.Noise[0].Name, r.Timeline[0] = evil, evil, report.Moment{At: evil, What: evil}
	r.Symptoms[0].ExplainedBy, r.Unexplained[0].CouldBe[0].BlockedBy = []string{evil}, evil
	for _, format := range Formats {
		var b bytes.Buffer
		if err := Write(&b, r, format, Options{}); err != nil {
			t.Fatal(err)
		}
		for _, l := range strings.Split(b.String(), "\n") {
			if report.Hidden(strings.Map(dropKnown, l)) {
				t.Errorf("%s: unsafe line %q", format, l)
			}
		}
	}
}

// dropKnown removes the characters that the page itself uses.
func dropKnown(r rune) rune {
	if strings.ContainsRune("✗│└─…·→←—‹¦▸", r) || r == '\ufffd' {
		return -1
	}
	return r
}

func TestEmptyReport(t *testing.T) {
	t.Parallel()
	for _, format := range Formats {
		var b bytes.Buffer
		r := &report.Report{Verdict: report.UnknownState, Error: "read snapshot: no such file"}
		if err := Write(&b, r, format, Options{}); err != nil || format != "name" && !strings.Contains(b.String(), "no such file") {
			t.Errorf("%s: %v\n%s", format, err, b.String())
		}
	}
}

// TestWideSaysItOnce quotes what two symptoms have in common once, and what to look at, too.
func TestWideSaysItOnce(t *testing.T) {
	t.Parallel()
	fact := report.Evidence{Source: "event", Locator: "Event Pod shop/a FailedMount", Text: "it fails"}
	u := func(name string) report.Unexplained {
		out := report.Unexplained{RuledOut: []report.Excluded{{Cause: "node-down", Words: "a node that is down"}}, Next: []report.Remedy{{Title: "Look."}}}
		out.Name, out.Subject, out.Evidence = name, report.Subject{Kind: "Pod", Namespace: "shop", Name: "a"}, []report.Evidence{fact}
		return out
	}
	r := &report.Report{Verdict: report.Broken, Subject: u("").Subject, Unexplained: []report.Unexplained{u("mount-failed"), u("pod-waiting-for-volume")}}
	var out bytes.Buffer
	if err := Text(&out, r, Options{Wide: true}); err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]int{"it fails": 1, "a node that is down": 1, "Look.": 1, "as for mount-failed above": 1} {
		if n := strings.Count(out.String(), what); n != want {
			t.Errorf("%q stands there %d times, want %d\n%s", what, n, want, &out)
		}
	}
}
