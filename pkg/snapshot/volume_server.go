package snapshot

import (
	"net/netip"
	"slices"
	"strings"
)

// The ports where servers listen unless something else is said: NFS (RFC 7530), SMB, iSCSI
// (RFC 7143).
const (
	nfsPort   = "2049"
	smbPort   = "445"
	iscsiPort = 3260
)

// nfsKeys are the attributes in which NFS drivers keep host and path: csi-driver-nfs and
// democratic-csi, Alibaba's NAS, Filestore, PowerScale.
var nfsKeys = [][2]string{{"server", "share"}, {"server", "path"}, {"ip", "volume"}, {"AzServiceIP", "Path"}}

// NFSServer is the NFS server and path that a volume's source names: in-tree, in the
// attributes of an NFS driver, or in what its attacher answered.
func (v *Volume) NFSServer() (server, path string) {
	if v == nil || v.PV == nil {
		return "", ""
	}
	if n := v.PV.Spec.NFS; n != nil {
		return n.Server, n.Path
	}
	if v.PV.Spec.CSI == nil || v.IsLonghorn() || v.SaysSMB() {
		return "", ""
	}
	for _, k := range nfsKeys {
		if host, p := v.Attribute(k[0]), v.Attribute(k[1]); host != "" && p != "" {
			return host, p
		}
	}
	for _, va := range v.Attachments { // Trident; vSAN file volumes (vsphere-csi-driver, common.Nfsv4AccessPoint)
		m := va.Status.AttachmentMetadata
		if host, p := m["nfsServerIp"], m["nfsPath"]; host != "" && p != "" {
			return strings.Trim(host, "[]"), p
		}
		if host, p, ok := strings.Cut(m["Nfsv4AccessPoint"], ":/"); ok {
			return strings.Trim(host, "[]"), "/" + p
		}
	}
	return "", ""
}

// ShareSource is "host/volume", where Longhorn offers a shared volume: as its Volume says, or its
// ShareManager, which knows it first. Empty: nowhere.
func (v *Volume) ShareSource() string {
	lh := v.LH()
	if lh == nil {
		return ""
	}
	at := lh.Status.ShareEndpoint
	if m := v.Longhorn.ShareManager; at == "" && m != nil {
		at = m.Endpoint
	}
	return strings.TrimPrefix(at, "nfs://")
}

// ShareAddress is the host of it.
func (v *Volume) ShareAddress() string {
	host, _, ok := strings.Cut(v.ShareSource(), "/")
	if !ok {
		return ""
	}
	return strings.Trim(host, "[]")
}

// NFSPort is the port that the mount options name, or NFS's own.
func (v *Volume) NFSPort() string { return v.portOption(nfsPort) }

func (v *Volume) portOption(usual string) string {
	if v != nil && v.PV != nil {
		for _, o := range v.PV.Spec.MountOptions {
			if n, ok := strings.CutPrefix(o, "port="); ok {
				return n
			}
		}
	}
	return usual
}

// SaysSMB tells whether the source of a volume names the protocol SMB beside a server and a share,
// which NFS has, too: democratic-csi (node_attach_driver), or the type of its file system.
func (v *Volume) SaysSMB() bool {
	if v.PV == nil || v.PV.Spec.CSI == nil {
		return false
	}
	fs := v.PV.Spec.CSI.FSType
	return v.Attribute("node_attach_driver") == "smb" || fs == "cifs" || fs == "smb3"
}

// SMBShare is the source "//server/share" that the objects of a volume state, and the port:
// csi-driver-smb's source, the server and share of Azure Files and democratic-csi, or those of the
// class while there is no PV.
func (v *Volume) SMBShare() (source, port string) {
	attribute := v.Attribute
	if v.PV == nil && v.Class != nil {
		attribute = func(name string) string { return v.Class.Parameters[name] }
	}
	port = v.portOption(smbPort)
	if source := attribute("source"); source != "" {
		return source, port
	}
	share, server := attribute("shareName"), attribute("server")
	if v.SaysSMB() && share == "" {
		share = strings.TrimPrefix(attribute("share"), "/")
	}
	if account := attribute("storageAccount"); server == "" && account != "" && attribute("protocol") != "nfs" {
		suffix := attribute("storageEndpointSuffix")
		if suffix == "" {
			suffix = "core.windows.net"
		}
		server = account + ".file." + suffix
	}
	if share == "" || server == "" || attribute("protocol") == "nfs" {
		return "", port
	}
	return "//" + server + "/" + share, port
}

// ISCSIPortals are the addresses of a volume's targets that its source and, for a node, its
// attachment name: by value, whatever the key.
func (v *Volume) ISCSIPortals(node string) []netip.AddrPort {
	if v == nil || v.PV == nil {
		return nil
	}
	var texts []string
	if s := v.PV.Spec.ISCSI; s != nil {
		texts = append(append(texts, s.TargetPortal), s.Portals...)
	}
	for _, values := range v.spokenOn(node) {
		if speaksOfTarget(values) {
			for _, text := range values {
				texts = append(texts, text)
			}
		}
	}
	var out []netip.AddrPort
	for _, text := range texts {
		for _, a := range PortalsIn(text) {
			if !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	slices.SortFunc(out, netip.AddrPort.Compare)
	return out
}

// speaksOfTarget tells whether some values speak of an iSCSI target: one of them is its name.
func speaksOfTarget(values map[string]string) bool {
	for _, v := range values {
		if strings.Contains(v, "iqn.") || strings.Contains(v, "eui.") {
			return true
		}
	}
	return false
}

// PortalsIn are the IP addresses in a text, with their ports or that of iSCSI.
func PortalsIn(text string) []netip.AddrPort { return portalsIn(text, iscsiPort) }

func portalsIn(text string, port uint16) []netip.AddrPort {
	var out []netip.AddrPort
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F' || r == '.' || r == ':' || r == '[' || r == ']')
	})
	for _, w := range words {
		w = strings.Trim(w, ".:")
		if ap, err := netip.ParseAddrPort(w); err == nil {
			out = append(out, ap)
		} else if a, err := netip.ParseAddr(strings.Trim(w, "[]")); err == nil && strings.Count(w, ".")+strings.Count(w, ":") >= 3 {
			out = append(out, netip.AddrPortFrom(a, port))
		}
	}
	return out
}

// CephMonitors are the monitors that an in-tree source names.
func (v *Volume) CephMonitors() []string {
	switch {
	case v == nil || v.PV == nil:
		return nil
	case v.PV.Spec.RBD != nil:
		return v.PV.Spec.RBD.CephMonitors
	case v.PV.Spec.CephFS != nil:
		return v.PV.Spec.CephFS.Monitors
	}
	return nil
}
