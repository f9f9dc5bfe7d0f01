package ceph

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// unserved are the health codes with which a part of the cluster serves nobody, or not
// all; those of the second list speak of CephFS alone (Ceph: health checks).
var (
	unserved = []string{"MON_DOWN", "OSD_DOWN", "OSD_HOST_DOWN", "PG_AVAILABILITY", "OSD_FULL", "POOL_FULL"}
	ofFiles  = []string{"MDS_ALL_DOWN", "FS_DEGRADED"}
)

// checkedLately is how old the operator's look at the cluster may be.
const checkedLately = 5 * time.Minute

// Health asks whether the volume's own cluster says now that it does not serve everybody.
func Health(pl *evidence.Place) (code string, a evidence.Answer) {
	codes := unserved
	if !pl.Volume.OnRBD() {
		codes = slices.Concat(ofFiles, unserved)
	}
	for _, c := range clustersOf(pl.X, pl.Volume) {
		if c.Checked.IsZero() || pl.X.Age(c.Checked) >= checkedLately {
			continue
		}
		for _, code := range codes {
			if message, ok := c.Codes[code]; ok {
				return code, evidence.Yes(evidence.FromAPI("CephCluster "+c.Namespace+"/"+c.Name, "status.ceph.details["+code+"]", message))
			}
		}
	}
	return "", evidence.No()
}

// MakingHangs asks for the driver's fresh word that it makes the volume and gets no answer.
func MakingHangs(pl *evidence.Place) evidence.Answer {
	return pl.Refused().Say(func(t evidence.Text) bool {
		return t.Reason == "ProvisioningFailed" && (t.Is(message.Deadline) || t.Is(message.AbortedPending))
	})
}

// clustersOf are the clusters of Rook that may be the volume's: its clusterID is the
// cluster's namespace, or its id; a single cluster serves a driver of its own.
func clustersOf(x *snapshot.Index, v *snapshot.Volume) []snapshot.CephHealth {
	all, id := x.CephClusters(), v.Attribute("clusterID")
	if v.PV == nil && v.Class != nil {
		id = v.Class.Parameters["clusterID"]
	}
	return slices.DeleteFunc(all, func(c snapshot.CephHealth) bool {
		own := strings.HasPrefix(v.Driver, c.Namespace+".")
		return id != c.Namespace && (c.FSID == "" || id != c.FSID) && !own
	})
}

// MTU asks whether the node sends larger packets than every other node that was looked
// at: the connection opens, and the first large message is lost on the way.
func MTU(pl *evidence.Place) evidence.Answer {
	mine, name := mtu(pl.View)
	smallest, other := 0, ""
	for _, n := range slices.Sorted(maps.Keys(pl.X.NodeViews)) {
		if n == pl.Node {
			continue
		}
		switch m, _ := mtu(pl.X.View(n)); {
		case m == 0:
		case m >= mine:
			return evidence.No()
		case smallest == 0 || m < smallest:
			smallest, other = m, n
		}
	}
	if smallest == 0 {
		return evidence.No()
	}
	return evidence.Yes(evidence.FromNode(pl.Node, "sys/class/net/"+name+"/mtu", strconv.Itoa(mine)),
		evidence.FromNode(other, "sys/class/net/*/mtu", fmt.Sprintf("at most %d", smallest)))
}

// mtu is the largest MTU of a node's links to others: not of its loop device, nor of the
// ends that its pods have.
func mtu(view *snapshot.NodeView) (most int, link string) {
	for name, f := range view.Facts.Files {
		rest, ok := strings.CutPrefix(name, "sys/class/net/")
		if !ok || path.Base(rest) != "mtu" {
			continue
		}
		dev := path.Dir(rest)
		inner := slices.ContainsFunc([]string{"lo", "veth", "cali", "lxc", "cni", "flannel", "cilium", "docker", "br-", "tunl", "vxlan", "kube", "dummy", "nodelocal"}, func(p string) bool { return strings.HasPrefix(dev, p) })
		n, err := strconv.Atoi(strings.TrimSpace(f.Content))
		if err == nil && !inner && (n > most || n == most && dev < link) {
			most, link = n, dev
		}
	}
	return most, link
}

// Connected asks whether nothing in the kernel's log speaks against the connections: the
// last word on each daemon is not that it closed.
func Connected(pl *evidence.Place) evidence.Answer {
	return evidence.When(len(Complaints(pl)) == 0, []report.Evidence{}...)
}
