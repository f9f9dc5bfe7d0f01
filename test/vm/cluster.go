package vm

import (
	"crypto/sha256"
	"embed"
	"fmt"
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
	State      State
	Event      *event
	Attachment string
	Pods       []pod
	Ago        map[string]string // times by name
}

// pod is one of the pods whose processes guest/node.sh starts.
type pod struct {
	Name, Namespace, Image, UID, Digit string
	Labels                             map[string]string
	HostRoot                           bool // has the node's root as a volume
}

var pods = []pod{
	{
		Name: "instance-manager", Namespace: "longhorn-system", Image: "longhornio/longhorn-instance-manager:v1.8.1",
		UID: "2b7f0b9e-51c7-4d3a-8f5e-0a4f4f6f1c01", Digit: "1",
		Labels: map[string]string{"longhorn.io/component": "instance-manager", "longhorn.io/node": "vm-node"},
	},
	{
		Name: "longhorn-csi-plugin", Namespace: "longhorn-system", Image: "longhornio/longhorn-manager:v1.8.1",
		UID: "5d0a1f1e-7f3c-4a58-9a1f-6be6b2c54f02", Digit: "2",
	},
	{
		Name: "longhorn-manager", Namespace: "longhorn-system", Image: "longhornio/longhorn-manager:v1.8.1",
		UID: "5d0a1f1e-7f3c-4a58-9a1f-6be6b2c54f05", Digit: "5",
	},
	{
		Name: "node-exporter", Namespace: "monitoring", Image: "quay.io/prometheus/node-exporter:v1.8.2",
		UID: "9c3b6f52-0c1d-4f5b-a1b6-2f3dce0a7d03", Digit: "4", HostRoot: true,
	},
}

// event is a warning on the pod.
type event struct{ Reason, Message string }

// WriteCase writes the snapshot of one scenario with its question and the answer
// that is wanted, in the form of the corpus.
func WriteCase(dir string, r *Result, want corpus.Want, state State) error {
	now, err := r.Clock()
	if err != nil {
		return err
	}
	attached := now.Add(-time.Minute)
	if state == Releasing { // long enough ago to be stuck
		attached = now.Add(-10 * time.Minute)
	}
	h := half{
		Result: r, State: state, Pods: pods,
		Attachment: snapshot.AttachmentName(r.Volume, "driver.longhorn.io", "vm-node"),
		Ago: map[string]string{
			"week": stamp(now.Add(-7 * 24 * time.Hour)), "attach": stamp(attached),
			"release": stamp(now.Add(-5 * time.Minute)), "now": stamp(now),
		},
	}
	if state == Waiting {
		h.Event = &event{"FailedMount", mountEvent(r)}
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
		"ask.txt":             "pvc data -n shop\n",
		"want.yaml":           string(wanted),
		"snapshot.yaml":       "apiVersion: mountdoctor.io/v1alpha1\nkind: Snapshot\ntakenAt: \"" + stamp(now) + "\"\nserver: {version: v1.31.2}\n",
		"cluster/all.yaml":    objects.String(),
		"nodes/vm-node.txtar": string(r.Recording),
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

// mountEvent is what the kubelet says when MountDevice failed, around the words
// of the program that really refused.
func mountEvent(r *Result) string {
	stage := fmt.Sprintf("/var/lib/kubelet/plugins/kubernetes.io/csi/driver.longhorn.io/%x/globalmount", sha256.Sum256([]byte(r.Volume)))
	device := "/dev/longhorn/" + r.Volume
	reason := r.Refused
	switch {
	case strings.HasPrefix(r.Refused, "'fsck'"):
	case strings.Contains(r.Refused, "mke2fs"):
		reason = fmt.Sprintf("format of disk %q failed: type:(\"ext4\") target:(%q) options:(\"defaults\") errcode:(exit status 1) output:(%s\n) ",
			device, stage, r.Refused)
	default:
		reason = fmt.Sprintf("mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t ext4 -o defaults %s %s\nOutput: %s\n",
			device, stage, r.Refused)
	}
	return fmt.Sprintf("MountVolume.MountDevice failed for volume %q : rpc error: code = Internal desc = %s", r.Volume, reason)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
