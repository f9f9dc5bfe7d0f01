package render

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

const long = "Make the mount shared on node n1 with `mount --make-rshared /var/lib/kubelet`, and let a unit or an init script do so at every boot before the container runtime starts, and wait until the plugin's container was made anew on that node, which may take a minute or two."

// TestSavedFirst: what saves data stands in the short report, ahead of the cure, also when it is a step of a consequence.
func TestSavedFirst(t *testing.T) {
	t.Parallel()
	const save = "Stop the writers of pod shop/web-0 and copy what lies in /srv/a to a safe place: it exists nowhere else."
	for name, c := range map[string]struct {
		nested   report.Remedy
		deeper   bool
		want     string
		unwanted string
	}{
		"a consequence":                 {nested: report.Remedy{Title: save + " Remove nothing there before. Ask around."}, want: "1  " + save + " Remove nothing there before. 2  Make the mount", unwanted: "Ask around"},
		"a consequence of that":         {nested: report.Remedy{Title: save}, deeper: true, want: "1  " + save + " 2  Make the mount"},
		"a backup before a repair":      {nested: report.Remedy{Title: "Take a snapshot or backup of the volume first."}, want: "FIX 1  Make", unwanted: "backup"},
		"a cure of a consequence":       {nested: report.Remedy{Title: "Delete pod shop/web-0, so that the volume is published anew."}, want: "FIX 1  Make", unwanted: "published anew"},
		"a copy that is no safeguard":   {nested: report.Remedy{Title: "Make a volume of another class, and copy the data."}, want: "FIX 1  Make", unwanted: "another class"},
		"a command has conditions":      {nested: report.Remedy{Title: save, Commands: []string{"true"}}, want: "FIX 1  Make", unwanted: "nowhere else"},
		"what the cause says by itself": {nested: report.Remedy{Title: long}, want: "FIX 1  Make", unwanted: "2  Make"},
	} {
		r := sample()
		root := r.RootCauses[0]
		root.Remedies = []report.Remedy{{Title: long}}
		r.RootCauses = []report.Cause{root}
		r.Findings = []report.Cause{{ID: "mount-missing-under-pod@Pod/shop/web-0", Name: "mount-missing-under-pod", CausedBy: root.ID, Remedies: []report.Remedy{c.nested}}}
		if c.deeper {
			r.Findings[0].CausedBy = "between@Node/n1"
			r.Findings = append(r.Findings, report.Cause{ID: "between@Node/n1", Name: "between", CausedBy: root.ID})
		}
		var out strings.Builder
		if err := Text(&out, r, Options{}); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(strings.Fields(out.String()), " ")
		if want := strings.Join(strings.Fields(c.want), " "); !strings.Contains(got, want) || c.unwanted != "" && strings.Contains(got, c.unwanted) {
			t.Errorf("%s:\n%s", name, out.String())
		}
	}
}

// TestGist: of a long step, what forbids or saves stays.
func TestGist(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ rest, want string }{
		"an aside":                 {" The kubelet of that release does so by itself.", ""},
		"it forbids":               {" Do not delete the pod.", " Do not delete the pod."},
		"it forbids otherwise":     {" Delete neither the claim nor the volume.", " Delete neither the claim nor the volume."},
		"it forbids with nothing":  {" Remove nothing there.", " Remove nothing there."},
		"it saves":                 {" First save what was written into the bare directory.", " First save what was written into the bare directory."},
		"it saves, in the middle":  {" Ask around. Copy the directories of all replicas before anything else.", " Copy the directories of all replicas before anything else."},
		"it waits for a copy":      {" Only then remove it, once a copy of the data exists.", " Only then remove it, once a copy of the data exists."},
		"a copy that is an object": {" Wait while a copy is being made.", ""},
	} {
		p := &page{}
		if got, want := p.gist(5, 1, long+c.rest), long+c.want; got != want {
			t.Errorf("%s:\n%s\nnot\n%s", name, got, want)
		}
	}
}
