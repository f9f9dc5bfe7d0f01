package vm

import (
	"embed"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed cluster.yaml.tmpl
var templates embed.FS

var cluster = template.Must(template.New("cluster.yaml.tmpl").Funcs(template.FuncMap{
	"quote": func(s string) (string, error) {
		line, err := yaml.Marshal(s)
		return strings.TrimSpace(strings.ReplaceAll(string(line), "\n", "\n    ")), err
	},
	"repeat": strings.Repeat,
}).ParseFS(templates, "cluster.yaml.tmpl"))

// State is what has become of the pod and its volume, as the API sees it.
type State string

// The states.
const (
	Waiting   State = "waiting"   // the pod cannot start; the kubelet reports why
	Running   State = "running"   // it started before the trouble
	Releasing State = "releasing" // it is gone, and the volume should be detached
)

// half is what the template of the cluster half needs.
type half struct {
	*Result
	State    State
	Event    *event
	Kind     kind
	Machines []machine
	Pods     []pod
	Ago      map[string]string // times by name
}

// machine is a node, with the pod of the volume on it.
type machine struct {
	Name, Address, PodUID, Attachment, Suffix string
	first                                     string // of the UIDs of its DaemonSets' pods; empty: as they are
}

// Own is the UID that a DaemonSet's pod has on this machine; see guest/node.sh.
func (m machine) Own(uid string) string { return m.first + uid[len(m.first):] }

func machines(r *Result) []machine {
	attachment := func(node string) string { return snapshot.AttachmentName(r.Volume, r.kind().Driver, node) }
	out := []machine{{"vm-node", "10.0.0.1", r.PodUID, attachment("vm-node"), "x7k2p", ""}}
	if r.Twin != nil {
		twin := machine{"vm-twin", "10.0.0.2", r.Twin.PodUID, attachment("vm-twin"), "m4q9z", "f"}
		if r.Twin.Unused {
			twin.PodUID, twin.Attachment = "", ""
		}
		out = append(out, twin)
	}
	return out
}

// event is a warning on the pod.
type event struct{ Reason, Message string }

// WriteCase writes the snapshot of one scenario with its question and the answer
// that is wanted, in the form of the corpus.
func WriteCase(dir string, r *Result, want corpus.Want, state State, question string) error {
	now, err := r.Clock()
	if err != nil {
		return err
	}
	attached := now.Add(-time.Minute)
	if state == Releasing { // long enough ago to be stuck
		attached = now.Add(-10 * time.Minute)
	}
	h := half{
		Result: r, State: state, Kind: r.kind(), Pods: append(r.kind().Pods, exporter), Machines: machines(r),
		Ago: map[string]string{
			"week": stamp(now.Add(-7 * 24 * time.Hour)), "attach": stamp(attached),
			"release": stamp(now.Add(-5 * time.Minute)), "now": stamp(now),
		},
	}
	if state == Waiting {
		h.Event = &event{"FailedMount", r.kind().words(r)}
	}
	var objects strings.Builder
	if err := cluster.Execute(&objects, h); err != nil {
		return err
	}
	wanted, err := yaml.Marshal(want)
	if err != nil {
		return err
	}
	files := map[string]string{
		"ask.txt":             question + "\n",
		"want.yaml":           string(wanted),
		"snapshot.yaml":       "apiVersion: mountdoctor.io/v1alpha1\nkind: Snapshot\ntakenAt: \"" + stamp(now) + "\"\nserver: {version: v1.31.2}\n",
		"cluster/all.yaml":    objects.String(),
		"nodes/vm-node.txtar": string(r.Recording),
	}
	if r.Twin != nil {
		files["nodes/vm-twin.txtar"] = string(r.Twin.Recording)
	}
	if len(r.Log) > 0 {
		files["logs/longhorn-system/share-manager-"+r.Volume+"/share-manager.log"] = string(r.Log)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
