package bundle_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// raw is an object of a case as its file has it.
type raw struct {
	m                        map[string]any
	group, version, resource string
	kind, namespace, name    string
}

// original is a case before it is written as a bundle.
type original struct {
	objects []raw
	logs    map[string][]byte // logs/NS/POD/C.log
	taken   time.Time
	kernel  map[string][]byte // by node: its recording
}

func readCase(t testing.TB, dir string) original {
	t.Helper()
	o := original{logs: map[string][]byte{}, kernel: map[string][]byte{}}
	s, err := snapshot.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	o.taken = s.TakenAt
	for name, n := range s.Nodes {
		o.kernel[name] = n.Recording
	}
	names, err := filepath.Glob(filepath.Join(dir, "cluster", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		docs, err := snapshot.Documents(name, data)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range docs {
			var m map[string]any
			if err := json.Unmarshal(doc, &m); err != nil {
				t.Fatal(err)
			}
			o.add(m, "", "")
		}
	}
	err = filepath.WalkDir(filepath.Join(dir, "logs"), func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // a case without logs
			return fs.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		data, err := os.ReadFile(p)
		o.logs[filepath.ToSlash(rel)] = data
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *original) add(m map[string]any, apiVersion, kind string) {
	if k, _ := m["kind"].(string); k != "" {
		kind = k
	}
	if v, _ := m["apiVersion"].(string); v != "" {
		apiVersion = v
	}
	if items, ok := m["items"].([]any); ok && strings.HasSuffix(kind, "List") {
		for _, i := range items {
			if im, ok := i.(map[string]any); ok {
				o.add(im, apiVersion, strings.TrimSuffix(kind, "List"))
			}
		}
		return
	}
	m["apiVersion"], m["kind"] = apiVersion, kind
	r := raw{m: m, kind: kind, version: path.Base(apiVersion)}
	if g, _, ok := strings.Cut(apiVersion, "/"); ok {
		r.group = g
	}
	meta, _ := m["metadata"].(map[string]any)
	r.namespace, _ = meta["namespace"].(string)
	r.name, _ = meta["name"].(string)
	r.resource = strings.ToLower(kind) + "s"
	for _, known := range snapshot.Resources() {
		if known.Kind == kind && known.Group == r.group {
			r.resource = known.Name
		}
	}
	o.objects = append(o.objects, r)
}

// files of a bundle by name.
type files map[string][]byte

// layoutsOf write a case as each tool would.
var layoutsOf = map[string]func(original) files{
	"longhorn":     longhornBundle,
	"must-gather":  mustGather,
	"troubleshoot": troubleshoot,
	"dump":         clusterInfoDump,
	"heap":         heapOfLists,
	"one-list":     oneList,
}

type sorted struct {
	key     string
	objects []raw
}

// grouped sorts objects into files.
func grouped(o original, file func(raw) string) []sorted {
	m := map[string][]raw{}
	for _, r := range o.objects {
		if name := file(r); name != "" {
			m[name] = append(m[name], r)
		}
	}
	var out []sorted
	for k, v := range m {
		out = append(out, sorted{k, v})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].key < out[j].key })
	return out
}

func objectsOf(list []raw) []any {
	out := []any{}
	for _, r := range list {
		out = append(out, r.m)
	}
	return out
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func mustYAML(v any) []byte {
	b, err := yaml.JSONToYAML(mustJSON(v))
	if err != nil {
		panic(err)
	}
	return b
}

var nullKey = regexp.MustCompile(`("[a-zA-Z]+":)(null,)`)

// longhornBundle writes what support-bundle-kit writes: four namespaces, one file a
// resource, its replacement of empty texts, and a zip of each node.
func longhornBundle(o original) files {
	const top = "supportbundle_5f1d_2026-05-04T10-00-00Z/"
	home := "longhorn-system"
	for _, r := range o.objects {
		if r.group == "longhorn.io" && r.namespace != "" {
			home = r.namespace
		}
	}
	in := []string{"default", "kube-system", "cattle-system", home}
	out := files{top + "bundleGenerationError.log": nil, top + "metadata.yaml": fmt.Appendf(nil, "projectname: Longhorn\nbundleversion: 0.0.84\nkubernetesversion: v1.31.2\nbundlecreatedat: %q\nissueurl: \"\"\n", o.taken.Format(time.RFC3339))}
	for _, g := range grouped(o, func(r raw) string {
		gv := strings.TrimPrefix(r.group+"/"+r.version, "/")
		switch {
		case r.namespace == "":
			return "yamls/cluster/" + gv + "/" + r.resource + ".yaml"
		case slices.Contains(in, r.namespace):
			return "yamls/namespaced/" + r.namespace + "/" + gv + "/" + r.resource + ".yaml"
		}
		return ""
	}) {
		text := string(mustJSON(map[string]any{"kind": "List", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": "1"}, "items": objectsOf(g.objects)}))
		text = nullKey.ReplaceAllString(text, `$1"null",`)
		text = strings.ReplaceAll(text, `""`, `"null"`)
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			panic(err)
		}
		out[top+g.key] = mustYAML(v)
	}
	for name, data := range o.logs {
		if p := strings.Split(name, "/"); slices.Contains(in, p[1]) {
			out[top+strings.Replace(name, ".previous.log", ".log.1", 1)] = data
		}
	}
	for node, recording := range o.kernel {
		out[top+"nodes/"+node+".zip"] = zipped(nodeFiles(node, recording))
	}
	return out
}

// nodeFiles is what the collector of Longhorn takes of a node.
func nodeFiles(node string, recording []byte) files {
	entries := map[string]string{}
	for _, part := range strings.Split("\n"+string(recording), "\n-- ") {
		if name, body, ok := strings.Cut(part, " --\n"); ok {
			entries[name] = body
		}
	}
	out := files{}
	put := func(name, text string) { out[node+"/"+name] = []byte(text) }
	tab := func(s string) string { return "\t" + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n\t") }
	kernel := strings.TrimSpace(entries["proc/sys/kernel/osrelease"])
	put("hostinfos/hostinfo", "hostname : \n "+tab(entries["etc/hostname"])+"\nos-release : \n "+tab(entries["etc/os-release"])+
		"\nsystem-info : \n \tLinux "+node+" "+kernel+" #1 SMP x86_64 GNU/Linux\n")
	put("hostinfos/proc_mounts", "/dev/sda1 /host ext4 rw 0 0\n")
	put("hostinfos/kernel_config", "CONFIG_NFS_V4_1=y\n")
	if entries["etc/multipath.conf"] != "" {
		put("hostinfos/multipath.conf", entries["etc/multipath.conf"])
	}
	clock := strings.Fields(entries["@clock"])
	if len(clock) == 2 {
		wall, err := time.Parse(time.RFC3339Nano, clock[0])
		up, err2 := time.ParseDuration(clock[1] + "s")
		if err == nil && err2 == nil {
			var b strings.Builder
			for line := range strings.Lines(entries["@kmsg"]) {
				head, text, _ := strings.Cut(strings.TrimRight(line, "\n"), ";")
				f := strings.Split(head, ",")
				if len(f) < 3 {
					continue
				}
				micros, _ := time.ParseDuration(f[2] + "us")
				fmt.Fprintf(&b, "kern  :%-6s: [%s] %s\n", "err", wall.Add(-up).Add(micros).UTC().Format("Mon Jan _2 15:04:05 2006"), text)
			}
			put("logs/dmesg.log", b.String())
		}
	}
	if entries["var/log/kubelet.log"] != "" {
		put("logs/kubelet.log", entries["var/log/kubelet.log"])
	}
	return out
}
