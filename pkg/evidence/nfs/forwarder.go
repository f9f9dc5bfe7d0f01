// Package nfs answers questions about NFS mounts and their servers.
package nfs

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Local tells whether an address is the node's own: then the server of the mount is a
// process of that node, as with the tunnels of efs-utils and of aznfs.
func Local(addr string) bool {
	a, err := netip.ParseAddr(addr)
	return addr == "localhost" || err == nil && a.IsLoopback()
}

// tunnels are the programs that stand between such a mount and the real server.
var tunnels = []string{"stunnel", "stunnel5", "efs-proxy"}

// Forwarder is the process of a CSI plugin through which a mount of its own node goes.
type Forwarder struct {
	Plugin *corev1.Pod // nil: not known
	Client *corev1.Pod // a pod that was there before the plugin's last start; nil: none
	Facts  []report.Evidence
	runs   bool // a tunnel runs in the plugin
	looked bool
}

// ForwarderOf finds who serves a local mount of a volume (nil: not known which) on a node.
func ForwarderOf(x *snapshot.Index, node string, v *snapshot.Volume) Forwarder {
	f := Forwarder{}
	if v == nil || v.CSIName() == "" {
		return f
	}
	if f.Plugin = x.DriverPodOn(v.CSIName(), node); f.Plugin == nil {
		return f
	}
	at := pods.Began(f.Plugin)
	if !at.IsZero() {
		f.Facts = append(f.Facts, evidence.FromPod(f.Plugin, "last start", at.UTC().Format(time.RFC3339)))
	}
	for _, c := range v.LiveConsumersOn(node) {
		if s := c.Pod.Status.StartTime; s != nil && !at.IsZero() && at.After(s.Time) && f.Client == nil {
			f.Client = c.Pod
		}
	}
	if view := x.View(node); view != nil {
		for _, q := range view.ProcessesOfPod(string(f.Plugin.UID)) {
			f.looked = true
			if slices.Contains(tunnels, q.Comm) {
				f.runs = true
				f.Facts = append(f.Facts, evidence.FromNode(node, fmt.Sprintf("proc/%d/comm", q.PID), q.Comm))
			}
		}
	}
	return f
}

// Words say who that is.
func (f Forwarder) Words(x *snapshot.Index) string {
	if f.Plugin == nil {
		return "That address is the node itself: the server of this mount is a process there that passes requests on, usually one of the driver's plugin. "
	}
	var b strings.Builder
	fmt.Fprintf(&b, "That address is the node itself: the server of this mount is a process of the driver's plugin there, pod %s, that passes requests on to the real server", pods.Name(f.Plugin))
	if f.looked && !f.runs {
		b.WriteString("; no such process (stunnel, efs-proxy) runs in it now")
	}
	b.WriteString(". ")
	if f.Client != nil {
		fmt.Fprintf(&b, "The plugin (re)started %s ago, later than pod %s. ", evidence.Duration(x.Age(pods.Began(f.Plugin))), pods.Name(f.Client))
	}
	return b.String()
}
