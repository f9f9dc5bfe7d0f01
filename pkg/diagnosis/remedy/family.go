package remedy

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// family is how software comes onto a node.
type family struct {
	name    string // as in a sentence; empty: not known
	install []string
	reboot  bool // what is installed is there after a reboot
	column  int  // of packages; -1: nothing is installed on a running node
}

// The columns of packages.
const (
	none = iota - 1
	debian
	redhat
	suse
	alpine
	arch
	photon
)

// Package is something that a node may lack, by what it is for.
type Package string

// The packages.
const (
	ISCSITools Package = "open-iscsi"
	NFSClient  Package = "nfs-client"
	Cryptsetup Package = "cryptsetup"
	UtilLinux  Package = "util-linux"
)

// packages are the names of a package in each column.
var packages = map[Package][]string{
	ISCSITools: {"open-iscsi", "iscsi-initiator-utils", "open-iscsi", "open-iscsi", "open-iscsi", "open-iscsi"},
	NFSClient:  {"nfs-common", "nfs-utils", "nfs-client", "nfs-utils", "nfs-utils", "nfs-utils"},
	Cryptsetup: {"cryptsetup", "cryptsetup", "cryptsetup", "cryptsetup", "cryptsetup", "cryptsetup"},
	UtilLinux:  {"util-linux", "util-linux", "util-linux", "util-linux", "util-linux", "util-linux"},
}

var (
	ofDebian  = family{name: "Debian or Ubuntu", install: strings.Fields("apt-get install -y"), column: debian}
	ofRedHat  = family{name: "Red Hat or its kin", install: strings.Fields("dnf install -y"), column: redhat}
	ofRedHat7 = family{name: "Red Hat or its kin", install: strings.Fields("yum install -y"), column: redhat}
	ofSUSE    = family{name: "SUSE", install: strings.Fields("zypper --non-interactive install"), column: suse}
	ofMicro   = family{name: "a transactional SUSE", install: strings.Fields("transactional-update --non-interactive pkg install"), reboot: true, column: suse}
	ofAlpine  = family{name: "Alpine", install: strings.Fields("apk add"), column: alpine}
	ofArch    = family{name: "Arch", install: strings.Fields("pacman -S --noconfirm"), column: arch}
	ofPhoton  = family{name: "Photon", install: strings.Fields("tdnf install -y"), column: photon}
)

// familyOf tells how software comes onto a node, by os-release(5) where it was read, else
// by what the kubelet reports. The answer carries the fact; not seen: an unknown system.
func familyOf(x *snapshot.Index, node string) (family, evidence.Answer) {
	id, like, version, fact := "", "", "", evidence.Answer{}
	if v := x.View(node); v != nil && v.Facts != nil && v.Facts.Identity.OSRelease["ID"] != "" {
		os := v.Facts.Identity.OSRelease
		id, like, version = os["ID"], os["ID_LIKE"], os["VERSION_ID"]
		fact = evidence.Yes(evidence.FromNode(node, "etc/os-release", "ID="+id))
	} else if n := x.Node(node); n != nil {
		id = idOf(n.Status.NodeInfo.OSImage)
		fact = evidence.Yes(evidence.FromAPI("Node "+node, "status.nodeInfo.osImage", n.Status.NodeInfo.OSImage))
	}
	all := append([]string{id}, strings.Fields(like)...)
	is := func(names ...string) bool {
		return slices.ContainsFunc(all, func(s string) bool { return slices.Contains(names, s) })
	}
	fixed := func(name string) (family, evidence.Answer) { return family{name: name, column: none}, fact }
	switch systemOf(x, node) {
	case talos:
		return fixed("Talos")
	case bottlerocket:
		return fixed("Bottlerocket")
	case nixos:
		return fixed("NixOS")
	case openshift:
		return fixed("Red Hat CoreOS")
	case common:
	}
	switch {
	case variant(x, node):
		return fixed("coreos")
	case is("flatcar", "coreos", "cos", "harvester", "rancheros", "burmilla"):
		return fixed(id)
	case is("sle-micro", "sl-micro", "opensuse-microos", "microos", "suse-microos", "sle-micro-rancher"):
		return ofMicro, fact
	case is("debian", "ubuntu"):
		return ofDebian, fact
	case id == "amzn" && version == "2", is("rhel", "centos", "fedora") && strings.HasPrefix(version, "7"):
		return ofRedHat7, fact
	case is("rhel", "centos", "fedora", "amzn", "rocky", "almalinux", "ol", "alinux", "tencentos"):
		return ofRedHat, fact
	case is("suse", "sles", "opensuse", "opensuse-leap", "opensuse-tumbleweed"):
		return ofSUSE, fact
	case is("alpine"):
		return ofAlpine, fact
	case is("arch"):
		return ofArch, fact
	case is("photon"):
		return ofPhoton, fact
	}
	why := "its system is not known"
	return family{column: none}, evidence.Unseen(evidence.Lack{Need: "node/" + node + "/" + string(probes.Machine), Node: node, Why: why})
}

// variant tells whether a node is one of the systems made of an image that name themselves after the
// family they are built from (VARIANT_ID in os-release(5)): CoreOS, IoT and the like of Fedora, Ubuntu Core.
func variant(x *snapshot.Index, node string) bool {
	named := ""
	if n := x.Node(node); n != nil {
		named = n.Status.NodeInfo.OSImage
	}
	if v := x.View(node); v != nil && v.Facts.Identity.OSRelease["ID"] != "" {
		return slices.Contains([]string{"coreos", "iot", "silverblue", "kinoite", "bootc"}, v.Facts.Identity.OSRelease["VARIANT_ID"])
	}
	return strings.HasPrefix(named, "Ubuntu Core") || strings.HasPrefix(named, "Fedora") && (strings.Contains(named, "CoreOS") || strings.Contains(named, "IoT"))
}

// idOf is the ID of a system by its name, of those that the kubelet reports alone.
func idOf(name string) string {
	for _, s := range [][2]string{
		{"Ubuntu", "ubuntu"}, {"Debian", "debian"}, {"SUSE Linux Micro", "sl-micro"}, {"SUSE Linux Enterprise Micro", "sle-micro"}, {"SLE Micro", "sle-micro"},
		{"openSUSE MicroOS", "opensuse-microos"}, {"SUSE", "sles"}, {"openSUSE", "opensuse"}, {"Rocky", "rocky"}, {"AlmaLinux", "almalinux"},
		{"Red Hat Enterprise Linux", "rhel"}, {"CentOS", "centos"}, {"Amazon Linux", "amzn"}, {"Oracle Linux", "ol"}, {"Fedora", "fedora"},
		{"Alpine", "alpine"}, {"Arch", "arch"}, {"Flatcar", "flatcar"}, {"VMware Photon", "photon"}, {"Container-Optimized OS", "cos"}, {"Harvester", "harvester"},
	} {
		if strings.HasPrefix(name, s[0]) {
			return s[1]
		}
	}
	return ""
}

// Contained tells whether a node is itself a container: its kernel, and the modules of
// it, are those of the machine around it.
func Contained(x *snapshot.Index, node string) bool {
	view := x.View(node)
	return view != nil && view.Contained()
}

// IsTalos tells whether a node has no programs but those of Talos' extensions.
func IsTalos(x *snapshot.Index, node string) bool { return systemOf(x, node) == talos }
