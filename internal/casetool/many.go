package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// ofOneIncident are the kinds of which an incident has objects of its own; what else a
// cluster holds (classes, drivers, DaemonSets) is there once, however often it happens.
var ofOneIncident = []string{"Pod", "PersistentVolumeClaim", "PersistentVolume", "VolumeAttachment", "Event", "Node", "CSINode", "Lease",
	"Job", "StatefulSet", "ReplicaSet", "Deployment", "Service", "Endpoints",
	"Volume", "Engine", "EngineFrontend", "Replica", "ShareManager", "InstanceManager", "Snapshot", "Backup"}

// growth asks about a cluster in which an incident happened many times, on nodes of its own
// each time, and in one with four times as many. A rule that asks all of something for each
// of something else makes the second time more than four times the first.
func growth(root string, names []string, times int, out io.Writer) error {
	for _, name := range names {
		var took [2]float64 // seconds of processor time
		for i, n := range []int{times, 4 * times} {
			s, err := repeated(filepath.Join(root, name), n)
			if err != nil {
				return err
			}
			began := processorTime()
			causes.Catalog().Evaluate(snapshot.NewIndex(s), diagnosis.Question{Kind: "cluster"})
			took[i] = processorTime() - began
		}
		fmt.Fprintf(out, "%-60s %6.2f s, with four times as many %6.2f s: %.1f times\n", name, took[0], took[1], took[1]/took[0])
	}
	return nil
}

// processorTime is what this process used so far, in seconds.
func processorTime() float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0 // Linux has it
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}

// repeated is the cluster of a case with its incident so many times.
func repeated(dir string, times int) (*snapshot.Snapshot, error) {
	objects, err := clusterOf(dir)
	if err != nil {
		return nil, err
	}
	var all, names []string
	for _, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		all = append(all, string(text))
		if kind, _ := o["kind"].(string); slices.Contains(ofOneIncident, kind) && kind != "Event" {
			names = append(names, named(o, "metadata", "name"), named(o, "metadata", "uid"))
			for _, handle := range [][]string{{"csi", "volumeHandle"}, {"awsElasticBlockStore", "volumeID"}, {"gcePersistentDisk", "pdName"}, {"azureDisk", "diskName"}, {"cinder", "volumeID"}, {"vsphereVolume", "volumePath"}} {
				names = append(names, path.Base(named(o, append([]string{"spec"}, handle...)...)))
			}
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return len(n) < 4 })
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) // the longest counts
	names = slices.Compact(names)
	for i := 1; i < times; i++ {
		all = append(all, again(objects, all, names, fmt.Sprintf("-k%d", i))...)
	}
	return load(dir, all)
}

// again are the objects of the incident once more, under other names.
func again(objects []map[string]any, texts, names []string, suffix string) []string {
	var pairs, out []string
	for _, n := range names {
		pairs = append(pairs, n, n+suffix)
	}
	renamed := strings.NewReplacer(pairs...)
	for i, o := range objects {
		if kind, _ := o["kind"].(string); !slices.Contains(ofOneIncident, kind) {
			continue
		}
		text := renamed.Replace(texts[i])
		for _, field := range []string{"name", "uid"} { // an event's own
			if own := named(o, "metadata", field); own != "" && !slices.Contains(names, own) {
				text = strings.Replace(text, fmt.Sprintf("%q:%q", field, renamed.Replace(own)), fmt.Sprintf("%q:%q", field, own+suffix), 1)
			}
		}
		out = append(out, text)
	}
	return out
}

// load reads a case with other objects.
func load(dir string, objects []string) (*snapshot.Snapshot, error) {
	temp, err := os.MkdirTemp("", "casetool.*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	if err := os.CopyFS(temp, os.DirFS(dir)); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(filepath.Join(temp, "cluster")); err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(temp, "cluster"), 0o755); err != nil {
		return nil, err
	}
	list := `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(objects, ",\n") + "]}\n"
	if err := os.WriteFile(filepath.Join(temp, "cluster", "all.json"), []byte(list), 0o600); err != nil {
		return nil, err
	}
	return snapshot.Load(temp)
}

// clusterOf reads the objects of a case.
func clusterOf(dir string) ([]map[string]any, error) {
	files, err := filepath.Glob(filepath.Join(dir, "cluster", "*.yaml"))
	if err != nil || len(files) == 0 {
		return nil, cmp.Or(err, fmt.Errorf("%s: no cluster/*.yaml to repeat", dir))
	}
	var out []map[string]any
	for _, f := range files {
		content, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		for _, document := range strings.Split("\n"+string(content), "\n---") {
			var list struct {
				Items []map[string]any `json:"items"`
			}
			var one map[string]any
			if err := yaml.Unmarshal([]byte(document), &list); err != nil {
				return nil, fmt.Errorf("%s: %w", f, err)
			}
			if err := yaml.Unmarshal([]byte(document), &one); err != nil {
				return nil, fmt.Errorf("%s: %w", f, err)
			}
			if out = append(out, list.Items...); len(list.Items) == 0 && len(one) > 0 {
				out = append(out, one)
			}
		}
	}
	return out, nil
}

// named is a field of an object as text, or nothing.
func named(o map[string]any, fields ...string) string {
	s, _, _ := unstructured.NestedString(o, fields...)
	return s
}
