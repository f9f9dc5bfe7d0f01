// Package preflight asks nodes, before anything breaks, for what the storage needs that
// is or shall be installed. Longhorn's own check (longhornctl check preflight) is the
// floor. A check combines Answers and steps; what was not read has not passed.
package preflight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// The kinds of storage, in the order in which they are printed.
const (
	LonghornV1 = "longhorn-v1"
	LonghornV2 = "longhorn-v2"
	RWX        = "longhorn-rwx" // volumes of Longhorn that several nodes mount
	NFS        = "nfs"          // mounted by the kubelet
	NFSDriver  = "nfs-csi"      // mounted by a driver, with the programs of its own image
	ISCSI      = "iscsi"
	NVMe       = "nvme-tcp"
	SMB        = "smb"
	Encryption = "encryption"
)

// Kinds are the kinds of storage that nodes can be checked for.
var Kinds = []string{LonghornV1, LonghornV2, RWX, NFS, NFSDriver, ISCSI, NVMe, SMB, Encryption}

// longhorn is asked for where nothing says which storage there is.
var longhorn = []string{LonghornV1, RWX}

// Wanted are the kinds of storage that somebody named, else those that the cluster shows,
// else Longhorn's.
func Wanted(x *snapshot.Index, named []string) []report.Storage {
	var out []report.Storage
	add := func(name, because string) {
		if because != "" && !slices.ContainsFunc(out, func(s report.Storage) bool { return s.Name == name }) {
			out = append(out, report.Storage{Name: name, Because: because})
		}
	}
	for _, n := range named {
		add(n, "asked for")
	}
	if len(named) > 0 {
		return sorted(out)
	}
	ofLonghorn(x, add)
	for _, d := range x.Cluster.CSIDrivers {
		add(protocol(d.Name), because(protocol(d.Name), "CSIDriver "+d.Name))
	}
	for _, c := range x.Cluster.StorageClasses {
		add(protocol(c.Provisioner), because(protocol(c.Provisioner), "StorageClass "+c.Name))
		if c.Parameters["encrypted"] == "true" && c.Provisioner == snapshot.LonghornDriver {
			add(Encryption, "StorageClass "+c.Name)
		}
	}
	for _, pv := range x.Cluster.PVs {
		switch {
		case pv.Spec.NFS != nil:
			add(NFS, "PersistentVolume "+pv.Name)
		case pv.Spec.ISCSI != nil:
			add(ISCSI, "PersistentVolume "+pv.Name)
		}
	}
	if len(out) == 0 {
		why := "nothing in the cluster says which storage there is"
		if there := unchecked(x); there != "" {
			why = there + " is not among what is checked; this is what Longhorn needs"
		}
		for _, n := range longhorn {
			add(n, why)
		}
	}
	return sorted(out)
}

// unchecked names storage that the cluster has and for which there are no checks.
func unchecked(x *snapshot.Index) string {
	for _, d := range x.Cluster.CSIDrivers {
		return "CSIDriver " + d.Name
	}
	for _, pv := range x.Cluster.PVs {
		if pv.Spec.Local == nil && pv.Spec.HostPath == nil {
			return "the storage of PersistentVolume " + pv.Name
		}
	}
	return ""
}

// ofLonghorn are the kinds that an installed Longhorn serves.
func ofLonghorn(x *snapshot.Index, add func(name, because string)) {
	if len(x.LonghornNamespaces()) == 0 && x.CSIDriver(snapshot.LonghornDriver) == nil {
		return
	}
	where := "Longhorn is installed"
	if v, ok := x.Setting("v1-data-engine"); !ok || v != "false" {
		add(LonghornV1, where)
	}
	if v, _ := x.Setting("v2-data-engine"); v == "true" {
		add(LonghornV2, "its setting v2-data-engine is true")
	}
	add(RWX, where)
}

// protocols are the words in the names of drivers by which they say what they speak.
var protocols = []struct{ word, kind string }{
	{"smb", SMB}, {"cifs", SMB}, {"iscsi", ISCSI}, {"nfs", NFSDriver}, {"nvmf", NVMe}, {"nvme", NVMe}, {"mayastor", NVMe},
}

// protocol is what a driver speaks by its name; empty: something that is not checked.
func protocol(driver string) string {
	for _, p := range protocols {
		if strings.Contains(driver, p.word) {
			return p.kind
		}
	}
	return ""
}

func because(kind, why string) string {
	if kind == "" {
		return ""
	}
	return why
}

func sorted(list []report.Storage) []report.Storage {
	slices.SortStableFunc(list, func(a, b report.Storage) int {
		return cmp.Compare(slices.Index(Kinds, a.Name), slices.Index(Kinds, b.Name))
	})
	return list
}

// Known tells whether a name is one of a kind of storage, and which there are.
func Known(name string) error {
	if slices.Contains(Kinds, name) {
		return nil
	}
	return fmt.Errorf("unknown storage %q, want some of %s", name, strings.Join(Kinds, ", "))
}
