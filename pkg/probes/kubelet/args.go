package kubelet

import (
	"path"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/tree"
)

// argsLimit bounds a file of arguments; MicroK8s's has some twenty lines.
const argsLimit = 64 << 10

// argsDirs are where distributions keep the arguments of their kubelet. No other
// file is opened because an argument names it.
var argsDirs = []string{
	"/etc/kubernetes/", "/etc/default/", "/etc/sysconfig/", "/etc/rancher/", "/var/lib/kubelet/", "/var/lib/rancher/",
	"/var/lib/k0s/", "/var/snap/", "/opt/", "/run/", "/usr/local/etc/",
}

// argsFile reads the file of --kubelet-args-file, as MicroK8s's kubelite has it, one
// argument a line. Only the lines about the directory are kept, in the answer and in
// a recording; links may not lead out, and nothing but a plain file is opened.
func argsFile(h host.Host, f *probes.Facts, file string) (args []string, real string) {
	if !path.IsAbs(file) {
		return nil, ""
	}
	guard := tree.NewGuard(f)
	real = realPath(h, guard, path.Clean(file))
	name := strings.TrimPrefix(real, "/")
	if !allowed(path.Clean(file)) || !allowed(real) || !guard.Safe(name) || guard.Point(name) {
		return nil, ""
	}
	if kind, _, err := h.Lstat(name); err != nil || kind != host.File {
		return nil, ""
	}
	b, _ := host.ReadKept(h, name, argsLimit, rootLines)
	for _, line := range strings.Split(string(b), "\n") {
		args = append(args, strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(line))...)
	}
	return args, real
}

// allowed tells whether a file lies where arguments are kept. What a pod can write
// is not there.
func allowed(file string) bool {
	for _, dir := range argsDirs {
		if strings.HasPrefix(file, dir) {
			return !strings.Contains(file, "/pods/")
		}
	}
	return false
}

// rootLines leaves of a file of arguments those that name the directory.
func rootLines(b []byte) []byte {
	var kept strings.Builder
	for line := range strings.Lines(string(b)) {
		if flag(strings.Fields(line), "root-dir") != "" {
			kept.WriteString(strings.TrimSpace(line) + "\n")
		}
	}
	return []byte(kept.String())
}

// expand replaces what snapd sets for the programs of a snap; the file's own place
// tells the values: /var/snap/NAME/REVISION/args/kubelet.
func expand(value, file string) string {
	rest, ok := strings.CutPrefix(file, "/var/snap/")
	if !ok {
		return value
	}
	parts := strings.Split(rest, "/")
	if len(parts) < 3 {
		return value
	}
	common, data := "/var/snap/"+parts[0]+"/common", "/var/snap/"+parts[0]+"/"+parts[1]
	return strings.NewReplacer("${SNAP_COMMON}", common, "$SNAP_COMMON", common, "${SNAP_DATA}", data, "$SNAP_DATA", data).Replace(value)
}
