package slots

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"

// fewest are the smallest numbers of volumes that the machines of a backend take, where
// its driver knows of a limit at all: the drivers' own defaults, and the documents of the
// clouds (EBS: 28 with the network interfaces; Azure: 2 for each core; Compute Engine: 15
// on shared cores; Hetzner: 16; DigitalOcean: 7; Linode: 8 with the root disk; OpenStack:
// 26 of virtio with the root disk; vSphere: 59).
var fewest = map[string]int{
	"ebs.csi.aws.com":           20,
	"disk.csi.azure.com":        4,
	"pd.csi.storage.gke.io":     15,
	"csi.hetzner.cloud":         16,
	"dobs.csi.digitalocean.com": 7,
	"linodebs.csi.linode.com":   7,
	"cinder.csi.openstack.org":  25,
	"csi.vsphere.vmware.com":    59,
}

// reaches tells whether as many volumes as a node has are a number at which machines of
// the driver may be full: that which another node publishes, or one that is known. Most
// drivers have no limit, and then no number says anything.
func (t Taken) reaches(x *snapshot.Index) bool {
	csi, _ := snapshot.Twins(t.Driver)
	least, known := fewest[csi]
	for _, n := range x.Cluster.CSINodes {
		if limit, published, _ := Limit(x, t.Driver, n.Name); published && (!known || limit < least) {
			least, known = limit, true
		}
	}
	return known && t.Count() >= least
}
