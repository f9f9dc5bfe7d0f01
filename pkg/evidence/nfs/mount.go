package nfs

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Mount is one NFS mount in the host's namespace of a node.
type Mount struct {
	probes.Mount
	Server string // as the source names it
	Addr   string // as the kernel resolved it
	Port   string
	Volume *snapshot.Volume // nil: of no volume that the API knows
}

// as takes an NFS line apart; see nfs(5) for addr= and port=.
func as(m probes.Mount) (Mount, bool) {
	if !isNFS(m) {
		return Mount{}, false
	}
	i := strings.Index(m.Source, ":/")
	if i < 0 {
		return Mount{}, false
	}
	n := Mount{Mount: m, Server: strings.Trim(m.Source[:i], "[]"), Addr: m.SuperValue("addr"), Port: m.SuperValue("port")}
	n.Addr = cmp.Or(n.Addr, n.Server)
	if n.Port == "" || n.Port == "0" {
		n.Port = "2049"
	}
	return n, true
}

// mountsOn are the NFS mounts of a node below the kubelet's root, in the order of the table.
func mountsOn(x *snapshot.Index, view *snapshot.NodeView) []Mount {
	if view == nil {
		return nil
	}
	var out []Mount
	for _, u := range view.Under(view.KubeletRoot()) {
		if m, ok := as(u.Mount); ok {
			m.Volume = x.VolumeOfPath(view.Name, m.Point)
			out = append(out, m)
		}
	}
	return out
}

// mountsOf are those of one volume on a node.
func mountsOf(x *snapshot.Index, v *snapshot.Volume, node string) []Mount {
	var out []Mount
	for _, u := range x.VolumeMounts(v, node) {
		if m, ok := as(u.Mount); ok {
			m.Volume = v
			out = append(out, m)
		}
	}
	return out
}

// hard tells whether requests wait for ever; softerr and soft end with an error after
// timeo × retrans. Neither word means hard (nfs(5)).
func (m Mount) hard() bool { return !m.HasSuper("soft") && !m.HasSuper("softerr") }

// sessions tells whether the mount uses NFSv4.1 or later, where the server knows the
// client by its host name alone (nfs4_init_uniform_client_string).
func (m Mount) sessions() bool {
	v := m.SuperValue("vers")
	return strings.HasPrefix(v, "4.") && v != "4.0"
}

// MountedServer is the address of a volume's server: as a probed node mounted it, else as
// the PV or Longhorn says.
func MountedServer(x *snapshot.Index, v *snapshot.Volume) (addr string, mounted bool) {
	for _, n := range Seen(x) {
		for _, m := range mountsOf(x, v, n) {
			return m.Addr, true
		}
	}
	if addr = v.ShareAddress(); addr != "" {
		return addr, false
	}
	addr, _ = v.NFSServer()
	return addr, false
}

// Seen are the nodes that were looked at, by name.
func Seen(x *snapshot.Index) []string { return slices.Sorted(maps.Keys(x.NodeViews)) }

// NameOf is the name that people use for a volume.
func NameOf(v *snapshot.Volume) string {
	if lh := v.LH(); lh != nil {
		return lh.Name
	}
	return cmp.Or(v.PVName(), v.Spoken())
}

// OldVersion says in words how a volume is mounted with NFS 4.0.
func OldVersion(v *snapshot.Volume) string {
	if v.IsLonghorn() {
		return "nfsOptions with vers=4.0 (Longhorn 1.11 and later, in a StorageClass for new volumes)"
	}
	return "mount option vers=4.0 (in the class or a new PersistentVolume)"
}
