package corpus

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// UserNames are what users called things, by kind.
type UserNames map[string][]string

// NamesOf collects them. What drivers generate is none, nor are the parts of a driver.
func NamesOf(s *snapshot.Snapshot) UserNames {
	out := UserNames{}
	c := &s.Cluster
	for _, n := range c.Nodes {
		out.add("node", n.Name)
	}
	for _, sc := range c.StorageClasses {
		if !slices.ContainsFunc(c.PVs, func(pv *corev1.PersistentVolume) bool { return pv.Spec.CSI != nil && pv.Spec.CSI.Driver == sc.Name }) {
			out.add("class", sc.Name) // and no driver's
		}
		for k, v := range sc.Parameters {
			if strings.HasSuffix(k, "secret-name") {
				out.add("secret", v)
			}
		}
	}
	for _, pv := range c.PVs {
		if !generatedName.MatchString(pv.Name) && (pv.Spec.CSI == nil || pv.Spec.CSI.VolumeHandle != pv.Name) {
			out.add("pv", pv.Name)
		}
		out.source(pv)
	}
	for _, v := range c.Longhorn.Volumes {
		if !generatedName.MatchString(v.Name) {
			out.add("pv", v.Name)
		}
	}
	for _, claim := range c.Claims {
		if !ofSystem(claim.Namespace) {
			out.add("namespace", claim.Namespace)
			out.add("claim", claim.Name)
		}
	}
	out.workloads(c)
	for _, n := range s.Nodes {
		out.maps(n)
	}
	for _, list := range out {
		slices.Sort(list)
	}
	return out
}

func (u UserNames) add(kind string, names ...string) {
	for _, n := range names {
		if n != "" && !slices.Contains(u[kind], n) {
			u[kind] = append(u[kind], n)
		}
	}
}

var generatedName = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// source collects paths and targets.
func (u UserNames) source(pv *corev1.PersistentVolume) {
	switch of := pv.Spec.PersistentVolumeSource; {
	case of.NFS != nil:
		u.add("path", of.NFS.Path)
	case of.HostPath != nil:
		u.add("path", of.HostPath.Path)
	case of.Local != nil:
		u.add("path", of.Local.Path)
	case of.ISCSI != nil:
		u.add("iqn", of.ISCSI.IQN)
	case of.CSI != nil:
		for k, v := range of.CSI.VolumeAttributes {
			switch {
			case strings.HasPrefix(v, "iqn."):
				u.add("iqn", v)
			case strings.HasPrefix(v, "/") && (k == "share" || k == "path"):
				u.add("path", v)
			}
		}
	}
}

func (u UserNames) workloads(c *snapshot.Cluster) {
	for _, w := range c.StatefulSets {
		if !ofSystem(w.Namespace) && !ofDriver(&w.Spec.Template.Spec) {
			u.add("workload", w.Name)
		}
	}
	for _, w := range c.Deployments {
		if !ofSystem(w.Namespace) && !ofDriver(&w.Spec.Template.Spec) {
			u.add("workload", w.Name)
		}
	}
	for _, p := range c.Pods {
		if ofSystem(p.Namespace) || ofDriver(&p.Spec) {
			continue
		}
		if len(p.OwnerReferences) == 0 {
			u.add("workload", p.Name)
		}
		for _, v := range p.Spec.Volumes {
			u.add("volume", v.Name)
			if v.HostPath != nil {
				u.add("path", v.HostPath.Path)
			}
		}
		for _, k := range p.Spec.Containers {
			u.add("container", k.Name)
			for _, m := range k.VolumeMounts {
				u.add("mountpath", m.MountPath)
			}
		}
	}
}

// group is the volume group in the name of a map of LVM.
var group = regexp.MustCompile(`^([^-]+)-[^-]`)

func (u UserNames) maps(n *snapshot.NodeRecord) {
	if n.Facts == nil {
		return
	}
	for _, b := range n.Facts.Block {
		switch {
		case b.DM == nil:
		case strings.HasPrefix(b.DM.UUID, "mpath-") && !strings.Contains(b.DM.UUID, b.DM.Name):
			u.add("alias", b.DM.Name)
		case strings.HasPrefix(b.DM.UUID, "LVM-") && group.MatchString(b.DM.Name):
			u.add("group", group.FindStringSubmatch(b.DM.Name)[1])
		}
	}
}

var systemName = regexp.MustCompile(`^(?:|default|openebs)$|^(?:kube-|longhorn|rook|cattle|openshift)|csi`)

// ofSystem tells the namespaces of clusters and drivers.
func ofSystem(ns string) bool {
	return systemName.MatchString(ns)
}

var driverPart = regexp.MustCompile(`csi|longhorn|kubelet|provisioner|nfs|ganesha|ceph|rook`)

func ofDriver(s *corev1.PodSpec) bool {
	return slices.ContainsFunc(slices.Concat(s.InitContainers, s.Containers), func(c corev1.Container) bool {
		return driverPart.MatchString(c.Name) || driverPart.MatchString(c.Image)
	})
}
