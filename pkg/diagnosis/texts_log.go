package diagnosis

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// volumeNames finds the volumes that a line names. A line is cut into words once,
// so the cost does not grow with the number of volumes.
type volumeNames map[string][]named

type named struct {
	volume *snapshot.Volume
	whole  string // the name that the line must contain when the word is only its longest part
}

// minName keeps short names ("data", "1") from matching everything.
const minName = 8

func (t *texts) namesOf(volumes []*snapshot.Volume) volumeNames {
	out := volumeNames{}
	for _, v := range volumes {
		list := []string{v.Called(), v.Handle}
		if lh := v.LH(); lh != nil {
			list = append(list, lh.Name)
		}
		if ns, claim := v.ClaimRef(); claim != "" {
			list = append(list, ns+"/"+claim)
		}
		if v.PV == nil && v.Claim != nil { // provisioners call a claim that they work at so (ProvisionController.syncClaimHandler)
			list = append(list, string(v.Claim.UID))
		}
		for _, va := range v.Attachments {
			list = append(list, va.Name)
		}
		if len(v.Consumers) < 50 {
			for _, c := range v.Consumers {
				list = append(list, string(c.Pod.UID))
			}
		}
		for _, alias := range v.Aliases() {
			if t.x.AliasOwner(alias) == v {
				list = append(list, alias)
			}
		}
		for _, name := range list {
			out.learn(name, v)
		}
	}
	return out
}

func (n volumeNames) learn(name string, v *snapshot.Volume) {
	word := ""
	for _, w := range splitWords(name) {
		if len(w) > len(word) {
			word = w
		}
	}
	if len(name) < minName || word == "" {
		return
	}
	k := named{volume: v}
	if word != name {
		k.whole = name
	}
	if !slices.Contains(n[word], k) {
		n[word] = append(n[word], k)
	}
}

func splitWords(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	})
}

// find returns the volumes that a line names, in the order of the words.
func (n volumeNames) find(line string) []*snapshot.Volume {
	var out []*snapshot.Volume
	for _, w := range splitWords(line) {
		for _, form := range []string{w, strings.Trim(w, ".-"), strings.TrimPrefix(w, "share-manager-"), strings.TrimPrefix(w, "uuid.")} {
			for _, k := range n[form] {
				if (k.whole == "" || standsIn(line, k.whole)) && !slices.Contains(out, k.volume) {
					out = append(out, k.volume)
				}
			}
		}
	}
	return out
}

// standsIn tells whether a name stands in a line as a whole: "nas:archive1" is not in
// "nas:archive19".
func standsIn(line, name string) bool {
	for {
		i := strings.Index(line, name)
		if i < 0 {
			return false
		}
		rest := strings.TrimLeft(line[i+len(name):], ".")
		if i+len(name) == len(line) || len(splitWords(rest[:min(1, len(rest))])) == 0 {
			return true
		}
		line = line[i+1:]
	}
}

// fromLogs takes lines of container logs and of the nodes' text logs that name a
// volume; all of the share-manager of a volume; and of the volume's own pods what
// speaks of I/O.
func (t *texts) fromLogs(s scope) {
	names := t.namesOf(s.volumes)
	owners := t.logOwners(s.volumes)
	for _, l := range t.x.Logs {
		id := l.Namespace + "/" + l.Pod
		own, pod := owners[id], t.x.Pod(l.Namespace, l.Pod)
		node, vouched := "", evidence.Vouches(t.x, l)
		tenants := !vouched && len(own) > 0 && !slices.ContainsFunc(own, func(o logOwner) bool { return o.all })
		if pod != nil {
			node = pod.Spec.NodeName
		}
		rec := record{}
		for i, line := range l.Lines {
			rec = rec.next(t.dated(line), names, line)
			x := Text{Source: "log", Component: l.Container, Node: node, Raw: line, At: rec.at, Ordinary: rec.ordinary, OwnWord: tenants,
				Locator: evidence.Line{Log: &l, Number: i + 1}.Locator(), Fresh: t.freshLine(rec.at) && !l.Previous}
			found := evidence.Keep(rec.volumes, func(v *snapshot.Volume) bool {
				return vouched || slices.ContainsFunc(own, func(o logOwner) bool { return o.volume == v })
			})
			for _, o := range own {
				if o.all || speaksOfIO(line) {
					x.Pod, x.OwnWord = id, !o.all
					found = appendVolume(found, o.volume)
				}
			}
			for _, v := range found {
				t.add(v, x)
			}
		}
	}
	t.fromNodeFiles(s, names)
}

func (t *texts) freshLine(at time.Time) bool { return !at.IsZero() && t.x.Age(at) < freshText }

// record is what a log line belongs to: a line without a date continues the dated one
// above it and is about the same volumes.
type record struct {
	at       time.Time
	ordinary bool
	volumes  []*snapshot.Volume
}

func (r record) next(at time.Time, names volumeNames, line string) record {
	found := names.find(line)
	if !at.IsZero() || r.at.IsZero() {
		return record{at: at, ordinary: message.Ordinary(line), volumes: found}
	}
	for _, v := range found {
		r.volumes = appendVolume(slices.Clip(r.volumes), v)
	}
	return r
}

type logOwner struct {
	volume *snapshot.Volume
	all    bool // every line is about the volume
}

func (t *texts) logOwners(volumes []*snapshot.Volume) map[string][]logOwner {
	out := map[string][]logOwner{}
	put := func(pod *corev1.Pod, o logOwner) {
		id := pod.Namespace + "/" + pod.Name
		out[id] = append(out[id], o)
	}
	for _, v := range volumes {
		for _, c := range v.Consumers {
			put(c.Pod, logOwner{volume: v})
		}
		if sm := t.x.ShareManagerPod(v); sm != nil {
			put(sm, logOwner{volume: v, all: true})
		}
	}
	return out
}

func appendVolume(list []*snapshot.Volume, v *snapshot.Volume) []*snapshot.Volume {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}

// ioWords are what an application says when its volume fails it.
var ioWords = []string{
	"input/output error", "read-only file system", "transport endpoint is not connected", "stale file handle",
	"no space left on device", "disk quota exceeded", "permission denied", "operation not permitted", "structure needs cleaning",
	"i/o error", "errno 5", "eio", "erofs", "estale", "enotconn", "corrupt", "checksum",
}

func speaksOfIO(line string) bool {
	low := strings.ToLower(line)
	return evidence.ContainsAny(low, ioWords...)
}

func (t *texts) fromNodeFiles(s scope, names volumeNames) {
	for _, node := range s.nodes {
		view := t.x.View(node)
		if view == nil {
			continue
		}
		rec := record{}
		for l := range evidence.HostLines(t.x, view) {
			if l.Number == 1 {
				rec = record{}
			}
			rec = rec.next(l.At(), names, l.Text)
			for _, v := range rec.volumes {
				t.add(v, Text{Source: "log", Component: program(l.Text), Node: node, Raw: l.Text, At: rec.at, Ordinary: rec.ordinary,
					Locator: l.Locator(), Fresh: t.freshLine(rec.at)})
			}
		}
	}
}

// program is who wrote a line of a host's log.
func program(line string) string {
	for _, w := range []string{"kubelet", "iscsid", "multipathd", "k3s", "rke2", "kernel", "systemd", "dockerd", "containerd"} {
		if strings.Contains(line, " "+w) {
			return w
		}
	}
	return ""
}

// dated finds the time of a log line, or zero.
func (t *texts) dated(line string) time.Time { return message.Date(line, t.x.TakenAt) }
