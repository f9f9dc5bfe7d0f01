package kubelet

import (
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/tree"
)

const defaultRoot = "/var/lib/kubelet"

// names are the processes that are or contain a kubelet, the surest first: RKE2
// and k0s start a process of its own, K3s and MicroK8s run it inside their one.
var names = []string{"kubelet", "kubelite", "k3s-agent", "k3s-server", "k3s", "rke2", "k0s", "hyperkube"}

// knownRoots are the directories that distributions give to their kubelet.
var knownRoots = []string{
	"/var/snap/microk8s/common/var/lib/kubelet", "/opt/rke/var/lib/kubelet", "/var/lib/k0s/kubelet", "/data/kubelet",
	"/cm/local/apps/kubernetes/var/kubelet", "/var/lib/rancher/k3s/agent/kubelet", defaultRoot,
}

// find returns the kubelet's process: the machine's own of the surest name, those
// outside of containers first, and of several the one in the namespace of process 1.
// What a pod calls a kubelet is none.
func find(f *probes.Facts) (probes.Process, bool) {
	var best probes.Process
	bestRank := -1
	for _, p := range f.Daemons(names...) {
		if p.Comm == "hyperkube" && !slices.Contains(p.Cmdline, "kubelet") {
			continue
		}
		rank := 4 * (len(names) - slices.Index(names, p.Comm))
		if p.Standing == probes.OfHost {
			rank += 2
		}
		if p.MntNS == f.Identity.InitMntNS && p.MntNS != 0 {
			rank++
		}
		if rank > bestRank {
			best, bestRank = *p, rank
		}
	}
	return best, bestRank >= 0
}

// rootDir determines the kubelet's directory and what told it.
func rootDir(h host.Host, f *probes.Facts, p probes.Process) (root, from string) {
	if r := flag(p.Cmdline, "root-dir"); path.IsAbs(r) {
		return path.Clean(r), "--root-dir"
	}
	args, file := argsFile(h, f, flag(p.Cmdline, "kubelet-args-file"))
	if r := expand(flag(args, "root-dir"), file); path.IsAbs(r) {
		return path.Clean(r), "--root-dir"
	}
	if r := fromMounts(f, p.MntNS); r != "" {
		return r, "mounts"
	}
	w := tree.Walker{Host: h, Guard: tree.NewGuard(f), Left: 1000}
	found := ""
	for _, r := range knownRoots {
		dir := strings.TrimPrefix(r, "/")
		if !w.Guard.Safe(dir) {
			continue
		}
		for _, sub := range []string{"/pods", "/plugins_registry", "/plugins"} {
			if w.Entry(dir+sub).Kind == host.Dir {
				found = r
			}
		}
		if found != "" {
			return found, "directory"
		}
	}
	return defaultRoot, "default"
}

// flag returns a flag's value in both forms, --NAME=V and --NAME V, and as K3s and
// RKE2 pass it on: --kubelet-arg=NAME=V. The last one wins.
func flag(args []string, name string) string {
	value := ""
	for i, a := range args {
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		if v, ok := strings.CutPrefix(a, "--kubelet-arg"); ok && (v == "" || v[0] == '=') {
			if v == "" {
				v = next
			}
			v = strings.TrimPrefix(v, "=")
			if v, ok = strings.CutPrefix(strings.TrimLeft(v, "-"), name+"="); ok {
				value = v
			}
			continue
		}
		bare, ok := strings.CutPrefix(a, "-")
		if !ok {
			continue
		}
		bare = strings.TrimPrefix(bare, "-")
		if bare == name {
			value = next
		} else if v, ok := strings.CutPrefix(bare, name+"="); ok {
			value = v
		}
	}
	return value
}

// fromMounts takes the directory that most mounts of pod volumes lie below, in
// the namespaces of process 1 and of the kubelet.
func fromMounts(f *probes.Facts, ns uint64) string {
	count := map[string]int{}
	for _, n := range f.Namespaces {
		if n.ID != f.Identity.InitMntNS && (ns == 0 || n.ID != ns) {
			continue
		}
		for _, m := range n.Mounts {
			before, after, ok := strings.Cut(m.Point, "/pods/")
			parts := strings.Split(after, "/")
			if ok && before != "" && len(parts) > 2 && strings.HasPrefix(parts[1], "volume") {
				count[before]++
			}
		}
	}
	best := ""
	for r, n := range count {
		if best == "" || n > count[best] || n == count[best] && r < best {
			best = r
		}
	}
	return best
}

// realPath resolves the symbolic links in a path, on local filesystems only.
func realPath(h host.Host, g tree.Guard, p string) string {
	done := ""
	rest := strings.Split(strings.Trim(p, "/"), "/")
	for hops := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		next := path.Join(done, part)
		if !g.Safe(next) || g.Point(next) {
			done = next
			continue
		}
		target, err := h.ReadLink(next)
		if hops++; err != nil || target == "" || hops > 100 {
			done = next
			continue
		}
		if path.IsAbs(target) {
			done = ""
		}
		rest = append(strings.Split(strings.Trim(path.Clean("/"+path.Join(done, target)), "/"), "/"), rest...)
		done = ""
	}
	return "/" + done
}
