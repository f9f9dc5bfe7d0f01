package corpus

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// entryIn is one entry of a recording, as it is written.
type entryIn struct{ name, body string }

var entryHead = regexp.MustCompile(`(?m)^-- (.+) --$`)

func entriesIn(recording []byte) []entryIn {
	text, heads := string(recording), entryHead.FindAllSubmatchIndex(recording, -1)
	var out []entryIn
	for i, m := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		out = append(out, entryIn{text[m[2]:m[3]], strings.TrimRight(strings.TrimPrefix(text[m[1]:end], "\n"), "\n") + "\n"})
	}
	return out
}

func bodyOf(list []entryIn, name string) string {
	if i := slices.IndexFunc(list, func(e entryIn) bool { return e.name == name }); i >= 0 {
		return list[i].body
	}
	return ""
}

// bothOf is a recording of one machine with what two have: the first's, and of the second the disks,
// sessions, filesystems, directories of the kubelet, mounts below those, processes of pods and lines of
// the kernel, under numbers and names that the first has not given.
func bothOf(a, b []entryIn) (string, bool) {
	number, ok := renumbering(a, b)
	if !ok {
		return "", false
	}
	out, has := slices.Clone(a), map[string]bool{}
	for i := range out {
		has[out[i].name] = true
		switch out[i].name {
		case "proc/1/mountinfo":
			out[i].body += number.mounts(out[i].body, bodyOf(b, out[i].name))
		case "@kmsg":
			out[i].body = number.kernel(a, b)
		}
	}
	pods, looked := podProcesses(b), slices.ContainsFunc(a, func(e entryIn) bool { return strings.HasPrefix(e.name, registry) })
	for _, e := range b {
		if !looked && strings.Contains(e.name, "/kubelet/plugins") {
			continue // nobody looked for the first's sockets, so none may seem to be missing
		}
		if moved := number.entry(e); joins(e.name, pods) && !has[moved.name] {
			out = append(out, moved)
		}
	}
	var text strings.Builder
	text.WriteString("Two recordings of one machine.\n")
	for _, e := range out {
		fmt.Fprintf(&text, "-- %s --\n%s", e.name, e.body)
	}
	return text.String(), true
}

const registry = "var/lib/kubelet/plugins_registry"

// joins tells whether an entry is one of those that a machine has more of with another's volumes.
func joins(name string, pods map[string]bool) bool {
	switch p := strings.Split(name, "/"); p[0] {
	case "proc":
		return len(p) > 2 && (pods[p[1]] || p[1] == "fs")
	case "@claim", "@content", "@dial", "@resolve", "dev":
		return true
	}
	return slices.ContainsFunc([]string{"@statfs/var/lib/kubelet/p", "sys/class/block/", "sys/class/iscsi_", "sys/class/nvme", "sys/fs/ext4", "sys/fs/xfs", "sys/bus/rbd/", "run/udev/data/", "var/lib/kubelet/"},
		func(p string) bool { return strings.HasPrefix(name, p) })
}

// podProcesses are the numbers of those of pods.
func podProcesses(list []entryIn) map[string]bool {
	out := map[string]bool{}
	for _, e := range list {
		if p := strings.Split(e.name, "/"); len(p) == 3 && p[0] == "proc" && p[2] == "cgroup" && strings.Contains(e.body, "kubepods") {
			out[p[1]] = true
		}
	}
	return out
}

// renumber gives what a machine numbers other numbers.
type renumber struct {
	host, to string          // the host's mount namespace of the second, and of the first
	disks    map[string]bool // the numbers of the second's block devices
}

var hostNamespace = regexp.MustCompile(`mnt:\[(\d+)\]`)

func renumbering(a, b []entryIn) (renumber, bool) {
	to, host := hostNamespace.FindStringSubmatch(bodyOf(a, "proc/1/ns/mnt")), hostNamespace.FindStringSubmatch(bodyOf(b, "proc/1/ns/mnt"))
	if to == nil || host == nil {
		return renumber{}, false
	}
	r := renumber{host[1], to[1], map[string]bool{}}
	for _, e := range b {
		if strings.HasPrefix(e.name, "sys/class/block/") && strings.HasSuffix(e.name, "/dev") {
			r.disks[strings.TrimSpace(e.body)] = true
		}
	}
	return r, true
}

var (
	scsiNames  = regexp.MustCompile(`\b(sd|vd|xvd)([a-z]{1,2})(\d*)\b`)
	otherNames = regexp.MustCompile(`\b(dm-|rbd|loop|nbd|drbd|md|zd|nvme|session)(\d+)`)
	connection = regexp.MustCompile(`\bconnection(\d+):`)
	peerGroup  = regexp.MustCompile(`\b(shared|master|propagate_from):(\d+)`)
	diskNumber = regexp.MustCompile(`\b(b?)(\d+):(\d+)\b`)
	ofProcess  = regexp.MustCompile(`\bproc/(\d+)`)
	statNumber = regexp.MustCompile(`^(\d+) \(`)
	pidLine    = regexp.MustCompile(`(?m)^(Pid|Tgid|PPid):\t(\d+)$`)
)

func plus(s string, n int) string {
	k, _ := strconv.Atoi(s) // digits, by the expressions above
	return strconv.Itoa(k + n)
}

// each exchanges every match of an expression.
func each(r *regexp.Regexp, s string, by func(m []string) string) string {
	return r.ReplaceAllStringFunc(s, func(found string) string { return by(r.FindStringSubmatch(found)) })
}

// later numbers stay clear of those that the first machine gives.
const morePIDs, moreMounts, moreMinors, moreGroups, moreNamespaces = 60000, 50000, 3000, 5000, 7000000

func (r renumber) text(s string) string {
	s = scsiNames.ReplaceAllString(s, "${1}z$2$3")
	s = otherNames.ReplaceAllString(s, "${1}7$2")
	s = connection.ReplaceAllString(s, "connection7$1:")
	s = each(peerGroup, s, func(m []string) string { return m[1] + "=" + plus(m[2], moreGroups) })
	s = each(diskNumber, s, func(m []string) string {
		if m[2] != "0" && !r.disks[m[2]+":"+m[3]] {
			return m[0]
		}
		return m[1] + m[2] + ":" + plus(m[3], moreMinors)
	})
	s = strings.NewReplacer("shared=", "shared:", "master=", "master:", "propagate_from=", "propagate_from:").Replace(s)
	s = each(ofProcess, s, func(m []string) string {
		if m[1] == "1" {
			return m[0]
		}
		return "proc/" + plus(m[1], morePIDs)
	})
	return each(hostNamespace, s, func(m []string) string {
		if m[1] == r.host {
			return "mnt:[" + r.to + "]"
		}
		return "mnt:[" + plus(m[1], moreNamespaces) + "]"
	})
}

// entry is one of the second machine on the first.
func (r renumber) entry(e entryIn) entryIn {
	out := entryIn{r.text(e.name), r.text(e.body)}
	if strings.HasPrefix(e.name, "proc/") {
		switch {
		case strings.HasSuffix(e.name, "/stat"):
			out.body = each(statNumber, out.body, func(m []string) string { return plus(m[1], morePIDs) + " (" })
		case strings.HasSuffix(e.name, "/status"):
			out.body = each(pidLine, out.body, func(m []string) string {
				if len(m[2]) < 2 {
					return m[0] // the kernel's and the first process
				}
				return m[1] + ":\t" + plus(m[2], morePIDs)
			})
		}
	}
	return out
}

// mounts are the lines of a mount table for what the second machine has mounted below the kubelet's
// directory.
func (r renumber) mounts(here, there string) string {
	root, ids, out := "1", map[string]bool{}, ""
	if m := rootMount.FindStringSubmatch(here); m != nil {
		root = m[1]
	}
	for l := range strings.Lines(there) {
		f := strings.SplitN(l, " ", 6)
		if len(f) < 6 || !strings.HasPrefix(f[4], "/var/lib/kubelet/p") {
			continue
		}
		parent := root
		if ids[f[1]] {
			parent = plus(f[1], moreMounts)
		}
		ids[f[0]] = true
		out += plus(f[0], moreMounts) + " " + parent + " " + r.text(strings.Join(f[2:], " "))
	}
	return out
}

// kernel are the lines of both logs, as if both ended at one moment.
func (r renumber) kernel(a, b []entryIn) string {
	type line struct {
		at          int64
		level, text string
	}
	var all []line
	read := func(body string, later int64, text func(string) string) {
		for l := range strings.Lines(body) {
			f := strings.SplitN(l, ",", 4)
			if len(f) < 4 {
				if len(all) > 0 {
					all[len(all)-1].text += l
				}
				continue
			}
			at, _ := strconv.ParseInt(f[2], 10, 64)
			all = append(all, line{at + later, f[0], text(f[3])})
		}
	}
	read(bodyOf(a, "@kmsg"), 0, func(s string) string { return s })
	read(bodyOf(b, "@kmsg"), runsFor(a)-runsFor(b), r.text)
	all = slices.DeleteFunc(all, func(l line) bool { return l.at < 0 })
	slices.SortStableFunc(all, func(a, b line) int { return cmp.Compare(a.at, b.at) })
	var out strings.Builder
	for i, l := range all {
		fmt.Fprintf(&out, "%s,%d,%d,%s", l.level, 1000+i, l.at, l.text)
	}
	return out.String()
}

// runsFor is how long a machine runs, in microseconds.
func runsFor(list []entryIn) int64 {
	seconds, _, _ := strings.Cut(bodyOf(list, "proc/uptime"), " ")
	f, _ := strconv.ParseFloat(strings.TrimSpace(seconds), 64)
	return int64(f * 1e6)
}
