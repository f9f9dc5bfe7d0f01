package csi

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// NotRegistered asks whether a driver is not registered on a node, by the nearest
// witness: kubelet's own fresh words, the sockets of its registry, CSINode, and before
// that existed (1.17) the node's annotation. An entry of CSINode is a copy: kubelet takes
// it out when it sees the socket vanish (DeRegisterPlugin, pkg/volume/csi/csi_plugin.go),
// which one that was started anew with another directory never does.
func NotRegistered(pl *evidence.Place, node, driver string) evidence.Answer {
	copied, a := Listed(pl.X, node, driver), inRegistry(pl.X.View(node), driver)
	for _, t := range pl.Refused() {
		if t.Aged && a.Yes() && copied.Yes() { // socket and entry are there: it has come since
			continue
		}
		if t.Node == node && t.Component == "kubelet" && t.Is(message.DriverNotRegistered) && strings.Contains(t.Raw, " "+driver+" ") && !overtaken(pl.X, node, driver, t) {
			if since := answeredSince(pl, node, driver, t.At); since.Yes() {
				return evidence.Not(since)
			}
			return contradicted(evidence.Yes(t.Evidence()), copied)
		}
	}
	if a.No() && copied.Yes() {
		if since := answeredSince(pl, node, driver, pl.X.TakenAt.Add(-recently)); since.Yes() {
			return evidence.Not(since)
		}
		if strange(pl.X, node) {
			return evidence.Not(copied)
		}
	}
	if !a.Unseen() {
		return contradicted(evidence.Not(a), copied)
	}
	return evidence.Not(copied)
}

// Startup is how long a plugin may take to start and register.
const Startup = 2 * time.Minute

// overtaken tells whether a text is older than the plugin that runs there now, with the
// time that it may take to register.
func overtaken(x *snapshot.Index, node, driver string, t evidence.Text) bool {
	plugin := x.DriverPodOn(driver, node)
	if plugin == nil {
		return false
	}
	at := Started(plugin)
	return !at.IsZero() && !t.At.After(at.Add(Startup))
}

// Started is when the newest container of a pod started; zero while one does not run.
func Started(pod *corev1.Pod) time.Time {
	var latest time.Time
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Running == nil {
			return time.Time{}
		}
		if s := c.State.Running.StartedAt.Time; s.After(latest) {
			latest = s
		}
	}
	return latest
}

// contradicted adds what the copy says when it says otherwise.
func contradicted(not, copied evidence.Answer) evidence.Answer {
	if not.Yes() && copied.Yes() {
		return not.With(copied.Facts()...)
	}
	return not
}

// inRegistry asks whether a socket of the driver lies in the registry of the node's
// kubelet. One that was not seen at all says nothing.
func inRegistry(view *snapshot.NodeView, driver string) evidence.Answer {
	if view == nil || len(view.Facts.Kubelet.Registry) == 0 {
		return evidence.Unseen()
	}
	k := view.Facts.Kubelet
	names := make([]string, len(k.Registry))
	for i, s := range k.Registry {
		names[i] = path.Base(s)
	}
	return evidence.When(slices.ContainsFunc(names, func(s string) bool { return registers(s, driver) }),
		evidence.FromNode(view.Name, strings.TrimPrefix(path.Dir(k.Registry[0]), "/"), strings.Join(names, " ")))
}

// registers tells whether a socket of the registry is a driver's. The usual registrar calls it DRIVER-reg.sock
// (node_register.go of node-driver-registrar): that of org.example.nfs-ssd is none of org.example.nfs.
func registers(socket, driver string) bool {
	name := path.Base(socket)
	if of, usual := strings.CutSuffix(name, "-reg.sock"); usual {
		return of == driver
	}
	return name == driver || name == driver+".sock" || strings.HasPrefix(name, driver+"-")
}

// strange tells whether a socket in the registry of a node's kubelet bears the name of no
// driver that CSINode lists: the usual registrar calls it DRIVER-reg.sock, others as they like.
func strange(x *snapshot.Index, node string) bool {
	view, c := x.View(node), x.CSINode(node)
	return view != nil && c != nil && slices.ContainsFunc(view.Facts.Kubelet.Registry, func(s string) bool {
		return !strings.HasSuffix(s, "-reg.sock") && !slices.ContainsFunc(c.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return strings.HasPrefix(path.Base(s), d.Name) })
	})
}

// nodeIDs is where kubelets before CSINode kept the drivers of a node, as a JSON object
// of driver and node id.
const nodeIDs = "csi.volume.kubernetes.io/nodeid"

// Listed asks whether the API has the driver for a node.
func Listed(x *snapshot.Index, node, driver string) evidence.Answer {
	if has, known := x.HasDriver(node, driver); known {
		var names []string
		if c := x.CSINode(node); c != nil {
			names = evidence.Each(c.Spec.Drivers, func(d storagev1.CSINodeDriver) string { return d.Name })
		}
		return evidence.When(has, evidence.FromAPI("CSINode "+node, "spec.drivers", cmp.Or(strings.Join(names, " "), "empty")))
	}
	n := x.Node(node)
	ids := map[string]string{}
	if n == nil || !slices.ContainsFunc(x.Cluster.Nodes, func(n *corev1.Node) bool { return n.Annotations[nodeIDs] != "" }) ||
		n.Annotations[nodeIDs] != "" && json.Unmarshal([]byte(n.Annotations[nodeIDs]), &ids) != nil {
		return evidence.Not(evidence.Resource(x, "storage.k8s.io/csinodes").Nothing())
	}
	_, has := ids[driver]
	text := n.Annotations[nodeIDs]
	text = cmp.Or(text, "absent")
	return evidence.When(has, evidence.FromAPI("Node "+node, "metadata.annotations["+nodeIDs+"]", text))
}

// ListedElsewhere tells whether the kubelet of another node knows the driver.
func ListedElsewhere(x *snapshot.Index, node, driver string) bool {
	return slices.ContainsFunc(x.Cluster.CSINodes, func(c *storagev1.CSINode) bool { return c != nil && c.Name != node && Listed(x, c.Name, driver).Yes() })
}
