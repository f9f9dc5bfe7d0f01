package bundle

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"sort"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// nodeFile are the files of a node in a support bundle, zipped or unpacked:
// nodes/NODE.zip/NODE/hostinfos/hostinfo.
var nodeFile = regexp.MustCompile(`(?:^|/)nodes/(?:[^/]+\.zip/)?([^/]+)/(hostinfos|logs)/(.+)$`)

// thin is what such a bundle knows of a node.
type thin map[string][]byte

// nodes puts a recording for each node that the bundle tells something of. Of the
// tables of a node only the kernel log is among it: the others are told to be missing,
// and nothing that a look at the node would rest on is whole.
func (b *importer) nodes(taken time.Time) []snapshot.Gap {
	all := map[string]thin{}
	for _, name := range b.names() {
		if m := nodeFile.FindStringSubmatch(name); m != nil && b.layout == supportBundle {
			if all[m[1]] == nil {
				all[m[1]] = thin{}
			}
			all[m[1]][m[2]+"/"+m[3]] = b.files[name].data
		}
	}
	var gaps []snapshot.Gap
	for _, node := range sortedThin(all) {
		b.out["nodes/"+node+".txtar"] = all[node].recording(taken)
		gaps = append(gaps, snapshot.Gap{Need: "node/" + node, Reason: snapshot.NotInBundle, Detail: "the bundle has its kernel log and some files, no mount tables, devices or processes"})
	}
	for k := range b.objects {
		if k.Group == "" && k.Kind == "Node" && all[k.name] == nil {
			gaps = append(gaps, snapshot.Gap{Need: "node/" + k.name, Reason: snapshot.NotInBundle, Detail: "not in this kind of bundle"})
		}
	}
	sort.Slice(gaps, func(i, j int) bool { return gaps[i].Need < gaps[j].Need })
	return gaps
}

func sortedThin(all map[string]thin) []string {
	names := map[string]bool{}
	for n := range all {
		names[n] = true
	}
	return sorted(names)
}

// recording writes what is known as a recording of the node.
func (t thin) recording(taken time.Time) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "from a support bundle: no mount tables, devices or processes\n")
	put := func(name string, data []byte) {
		if len(bytes.TrimSpace(data)) > 0 {
			fmt.Fprintf(&out, "-- %s --\n%s\n", name, plain(data))
		}
	}
	info := t.hostinfo()
	if f := strings.Fields(info["system-info"]); len(f) > 2 && f[0] == "Linux" {
		put("proc/sys/kernel/osrelease", []byte(f[2]))
		put("boot/config-"+path.Base(f[2]), t["hostinfos/kernel_config"])
	}
	put("etc/hostname", []byte(info["hostname"]))
	put("etc/os-release", []byte(info["os-release"]))
	put("etc/multipath.conf", t["hostinfos/multipath.conf"])
	put("proc/mounts", t["hostinfos/proc_mounts"])
	put("var/log/kubelet.log", tail(t.kubelet()))
	for _, name := range []string{"syslog", "messages"} {
		if log := t["logs/"+name]; len(log) > 0 {
			put("var/log/"+name, tail(log))
		}
	}
	kernel, boot := dmesg(t["logs/dmesg.log"])
	if len(kernel) > 0 {
		put("@kmsg", kernel)
		put("@clock", fmt.Appendf(nil, "%s\n%.6f", taken.Format(time.RFC3339Nano), taken.Sub(boot).Seconds()))
	}
	for _, p := range agent.Probes {
		if p.Name != "kmsg" || len(kernel) == 0 {
			put("@probe/"+p.Name, []byte("partial not in this kind of bundle"))
		}
	}
	return out.Bytes()
}

// plain makes a text that an archive can hold: none of its lines is a marker of one,
// and its first is no instruction.
func plain(data []byte) []byte {
	data = bytes.ToValidUTF8(bytes.TrimRight(data, "\n"), []byte("\ufffd"))
	var out []byte
	if bytes.HasPrefix(data, []byte("@")) {
		out = append(out, "@text\n"...)
	}
	for line := range bytes.Lines(data) {
		if bytes.HasPrefix(line, []byte("-- ")) {
			line = append([]byte(" "), line...)
		}
		out = append(out, line...)
	}
	return out
}

// kubelet is the log of the kubelet, oldest line first: journalctl -r wrote it upside
// down, RKE2 did not.
func (t thin) kubelet() []byte {
	for _, name := range []string{"kubelet.log", "k3s-agent-service.log", "k3s-service.log"} {
		log := t["logs/"+name]
		lines := bytes.Split(bytes.TrimRight(log, "\n"), []byte("\n"))
		if len(lines) < 2 {
			continue
		}
		if first, last := stamp(lines[0]), stamp(lines[len(lines)-1]); first > last && last != "" {
			for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
				lines[i], lines[j] = lines[j], lines[i]
			}
		}
		return bytes.Join(lines, []byte("\n"))
	}
	return nil
}

var journal = regexp.MustCompile(`^([A-Z][a-z]{2}) ([ \d]\d) (\d\d:\d\d:\d\d\.\d+) `)

// stamp is a text that sorts as the times of one month do; empty: not of journalctl.
func stamp(line []byte) string {
	m := journal.FindSubmatch(line)
	if m == nil {
		return ""
	}
	month, err := time.Parse("Jan", string(m[1]))
	if err != nil {
		return ""
	}
	return month.Format("01") + strings.ReplaceAll(string(m[2]), " ", "0") + string(m[3])
}

var block = regexp.MustCompile(`(?m)^(hostname|os-release|system-info) : *$`)

// hostinfo takes the blocks apart that the collector writes one below the other, each
// line behind a tab.
func (t thin) hostinfo() map[string]string {
	text := string(t["hostinfos/hostinfo"])
	out := map[string]string{}
	at := block.FindAllStringSubmatchIndex(text, -1)
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		var lines []string
		for line := range strings.Lines(text[m[1]:end]) {
			if line = strings.TrimSpace(line); line != "" {
				lines = append(lines, line)
			}
		}
		out[text[m[2]:m[3]]] = strings.Join(lines, "\n")
	}
	return out
}
