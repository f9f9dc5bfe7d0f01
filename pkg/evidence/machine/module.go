package machine

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Module asks whether the running kernel of a node has a module: loaded, built in, or on
// disk to be loaded when it is wanted.
func Module(x *snapshot.Index, node, name string) evidence.Answer {
	view := x.View(node)
	if view == nil {
		return evidence.Unseen(evidence.Tables(x, node, probes.Files).Lacks()...)
	}
	m, base := view.Facts.Module(name), "lib/modules/"+view.Facts.Identity.Kernel+"/"
	_, deps := file(x, node, base+"modules.dep")
	_, loaded := file(x, node, "proc/modules")
	switch {
	case m.Loaded:
		return evidence.Yes(evidence.FromNode(node, "proc/modules", name))
	case m.BuiltIn:
		return evidence.Yes(evidence.FromNode(node, base+"modules.builtin", name))
	case option(x, node, name) == "y":
		return evidence.Yes(evidence.FromNode(node, "boot/config-"+view.Facts.Identity.Kernel, options[plain(name)]+"=y"))
	case m.OnDisk:
		return evidence.Yes(evidence.FromNode(node, base+"modules.dep", name))
	case !deps, !loaded:
		return evidence.Unseen(lack(node, probes.Files, "the module lists of kernel "+view.Facts.Identity.Kernel+" were not read"))
	}
	if r := Read(x, node, probes.Files, base+"modules.dep", base+"modules.builtin", "proc/modules"); !r.Complete() {
		return evidence.Unseen(r.Lacks()...)
	}
	return evidence.No(evidence.FromNode(node, base+"modules.dep", "no "+name), evidence.FromNode(node, "proc/modules", "no "+name))
}

// Loaded asks whether a module is in the kernel already, for those that nobody loads on
// demand.
func Loaded(x *snapshot.Index, node, name string) evidence.Answer {
	there := Module(x, node, name)
	if !there.Yes() {
		return there
	}
	m := x.View(node).Facts.Module(name)
	if m.Loaded || m.BuiltIn || option(x, node, name) == "y" {
		return there
	}
	if _, read := file(x, node, "proc/modules"); !read {
		return evidence.Unseen(lack(node, probes.Files, "proc/modules was not read"))
	}
	return evidence.No(evidence.FromNode(node, "proc/modules", "no "+name)).With(there.Facts()...)
}

// options are what the kernel's configuration calls a module (Kconfig).
var options = map[string]string{
	"iscsi_tcp": "CONFIG_ISCSI_TCP", "nfs": "CONFIG_NFS_FS", "nfsv4": "CONFIG_NFS_V4", "dm_crypt": "CONFIG_DM_CRYPT",
	"nvme_tcp": "CONFIG_NVME_TCP", "cifs": "CONFIG_CIFS",
}

// option is what the configuration of the running kernel says: y, m, n, or nothing.
func option(x *snapshot.Index, node, module string) string {
	name, ok := options[plain(module)]
	if !ok {
		return ""
	}
	text, _ := file(x, node, "boot/config-"+x.View(node).Facts.Identity.Kernel)
	for l := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(l), name+"="); ok {
			return v
		}
	}
	return ""
}

// plain writes a module as the kernel does, to which "-" and "_" are one.
func plain(module string) string { return strings.ReplaceAll(module, "-", "_") }

// NFS asks whether the kernel of a node can mount NFSv4: the filesystem is known
// already, or its module can be loaded.
func NFS(x *snapshot.Index, node string) evidence.Answer {
	if text, ok := file(x, node, "proc/filesystems"); ok {
		for l := range strings.Lines(text) {
			if f := strings.Fields(l); len(f) > 0 && f[len(f)-1] == "nfs4" {
				return evidence.Yes(evidence.FromNode(node, "proc/filesystems", "nfs4"))
			}
		}
	}
	return evidence.Any(Module(x, node, "nfsv4"), Module(x, node, "nfs"))
}
