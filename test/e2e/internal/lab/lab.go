// Package lab runs a real Kubernetes cluster of two nodes from plain processes
// on one machine: etcd and the control plane side by side, and each node in
// mount, PID, network, UTS and IPC namespaces of its own with a kubelet and a
// containerd. Nothing listens on an address of the machine, and nothing of the
// lab can reach out of it.
package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Lab says where one run of the lab lives. All of it is below Dir, except the
// control groups, which carry Name.
type Lab struct {
	Dir string // on a real disk file system: containerd's overlays need it
	Bin string // the programs of Kubernetes and etcd, by their names
	Own string // our own programs: lab, driver, pause
}

// Addresses of the lab's network, of the range that RFC 2544 sets aside for
// benchmarks.
const (
	HostIP  = "198.18.0.1"
	APIPort = "6443"
	API     = "https://" + HostIP + ":" + APIPort
)

// Node is one machine of the cluster.
type Node struct {
	Name string
	IP   string
	Pods string // the pods' range
}

// Nodes are the machines of the cluster.
var Nodes = []Node{
	{Name: "worker-1", IP: "198.18.0.11", Pods: "10.244.11.0/24"},
	{Name: "worker-2", IP: "198.18.0.12", Pods: "10.244.12.0/24"},
}

// FromEnvironment is the lab that the calling process runs in; false outside.
func FromEnvironment() (Lab, bool) {
	l := Lab{Dir: os.Getenv("MOUNTDOCTOR_LAB"), Bin: os.Getenv("MOUNTDOCTOR_LAB_BIN"), Own: os.Getenv("MOUNTDOCTOR_LAB_OWN")}
	return l, l.Dir != "" && l.Bin != "" && l.Own != ""
}

// Environment is what a process needs to know of the lab: where it is, and a
// kubectl with the administrator's kubeconfig.
func (l Lab) Environment() []string {
	return []string{
		"MOUNTDOCTOR_LAB=" + l.Dir,
		"MOUNTDOCTOR_LAB_BIN=" + l.Bin,
		"MOUNTDOCTOR_LAB_OWN=" + l.Own,
		"KUBECONFIG=" + l.Kubeconfig("admin"),
		"PATH=" + l.Own + ":" + l.Bin + ":" + os.Getenv("PATH"),
		"HOME=" + l.path("home"),
		"KUBECACHEDIR=" + l.path("home", "cache"),
	}
}

// Kubeconfig is the file with the credentials of that name.
func (l Lab) Kubeconfig(name string) string { return l.path("pki", name+".kubeconfig") }

// Logs is the folder of all components' logs.
func (l Lab) Logs() string { return l.path("log") }

// Images is the folder that both nodes see as the network storage.
func (l Lab) Images() string { return l.path("storage") }

func (l Lab) path(parts ...string) string {
	return filepath.Join(append([]string{l.Dir}, parts...)...)
}

// group is the control group of a node: one level below the root of each
// hierarchy, named so that two labs never meet.
func (l Lab) group(node string) string {
	return "mountdoctor-" + strings.TrimPrefix(filepath.Base(l.Dir), "run-") + "-" + node
}

// NodeNamed finds a node.
func NodeNamed(name string) (Node, error) {
	for _, n := range Nodes {
		if n.Name == name {
			return n, nil
		}
	}
	return Node{}, fmt.Errorf("node %s: the lab has no such node", name)
}
