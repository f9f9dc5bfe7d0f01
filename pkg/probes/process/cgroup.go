package process

import "strings"

// Membership is what a cgroup path tells about a process.
type Membership struct {
	Path        string
	PodUID      string // with dashes; 32 hexadecimal digits for older static pods
	ContainerID string
	Unit        string // only of processes outside pods
	Group       Group  // of all hierarchies the one that binds most
}

// ParseCgroup reads proc/PID/cgroup (cgroups(7)). Of all hierarchies it keeps the
// path that names a pod, else the one of systemd or of the unified hierarchy.
// above is the path of process 1: a node that is itself a container (kind, k3d)
// has the outer container's path in front of all others.
func ParseCgroup(text, above string) Membership {
	var best string
	var group Group
	rank := -1
	for _, line := range strings.Split(text, "\n") {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		group = max(group, groupOf(below(parts[2], above)))
		if r := weigh(parts[1], parts[2], above); r > rank {
			rank, best = r, parts[2]
		}
	}
	m := Membership{Path: best, Group: group}
	own := below(best, above)
	var rest string
	m.PodUID, rest = podUID(own)
	if m.PodUID != "" {
		m.ContainerID = firstID(rest)
		return m
	}
	m.ContainerID = lastID(own)
	m.Unit = unit(own)
	return m
}

func weigh(controllers, path, above string) int {
	uid, _ := podUID(below(path, above))
	switch {
	case uid != "":
		return 4
	case path == "/" || path == "":
		return 0
	case controllers == "" || controllers == "name=systemd":
		return 3
	}
	return 1
}

// below cuts the path of process 1 off, unless that is its ordinary place.
func below(path, above string) string {
	above = strings.TrimSuffix(strings.TrimSuffix(above, "/init.scope"), "/init")
	if above == "" || above == "/" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, above); ok && strings.HasPrefix(rest, "/") {
		return rest
	}
	return path
}

// podUID finds "pod<uid>" at the start of a path element or after a dash
// (kubepods-burstable-pod1234_….slice); systemd's form has _ for - (kubelet's
// pkg/kubelet/cm/cgroup_manager_linux.go). It returns what follows as well.
func podUID(path string) (uid, rest string) {
	for i := 0; i+3 < len(path); {
		j := strings.Index(path[i:], "pod")
		if j < 0 {
			return "", ""
		}
		i += j + 3
		if start := i - 3; start > 0 && path[start-1] != '/' && path[start-1] != '-' {
			continue
		}
		if n := uidLength(path[i:]); n > 0 {
			return strings.ReplaceAll(path[i:i+n], "_", "-"), path[i+n:]
		}
	}
	return "", ""
}

// uidLength is 36 for a UID, 32 for the hash of a static pod, else 0.
func uidLength(s string) int {
	n := 0
	for n < len(s) && (hex(s[n]) || ((s[n] == '-' || s[n] == '_') && (n == 8 || n == 13 || n == 18 || n == 23))) {
		n++
	}
	if ended := n == len(s) || !word(s[n]); !ended {
		return 0
	}
	switch {
	case n == 36 && !hex(s[8]) && !hex(s[13]) && !hex(s[18]) && !hex(s[23]):
		return n
	case n == 32 && !strings.ContainsAny(s[:n], "-_"):
		return n
	}
	return 0
}

const idLength = 64

// firstID and lastID find the 64 hexadecimal digits by which runtimes name a
// container, whatever stands around: cri-containerd-<id>.scope, crio-<id>.scope,
// docker-<id>.scope, <slice>:cri-containerd:<id>, or the bare id.
func firstID(s string) string {
	for i := 0; i+idLength <= len(s); i++ {
		if n := hexRun(s[i:]); n == idLength && (i == 0 || !word(s[i-1])) {
			return s[i : i+n]
		} else if n > 0 {
			i += n
		}
	}
	return ""
}

func lastID(s string) string {
	last := ""
	for {
		id := firstID(s)
		if id == "" {
			return last
		}
		last = id
		s = s[strings.Index(s, id)+len(id):]
	}
}

// unit is the deepest service, else the deepest scope that is not init's.
func unit(path string) string {
	parts := strings.Split(path, "/")
	for _, suffix := range []string{".service", ".scope"} {
		for i := len(parts) - 1; i >= 0; i-- {
			if strings.HasSuffix(parts[i], suffix) && parts[i] != "init.scope" {
				return parts[i]
			}
		}
	}
	return ""
}

func hexRun(s string) int {
	n := 0
	for n < len(s) && hex(s[n]) {
		n++
	}
	return n
}

func hex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

func word(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
