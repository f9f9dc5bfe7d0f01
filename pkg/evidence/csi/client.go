package csi

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

const nodeID = "csi.alpha.kubernetes.io/node-id" // as the attacher sent it

var (
	// uses is how a storage says that somebody works with a volume; that it is "attached"
	// only says what the storage wrote down.
	uses = pattern.MustCompile(`(?i)\blogged[ -]in\b|\bstill (being )?(mapped|mounted|exported|connected|used|in[ -]use|open|written)\b|\bin[ -]use by\b|\b(active|open|established) (nvme |iscsi |nfs )?(sessions?|connections?|initiators?|clients?|paths?|i/?o)\b|\b(initiator|client|host|session)\b[^.;]{0,60}\b(online|connected|alive|active)\b|\boutstanding (writes?|i/?os?|requests?)\b|\bis writing\b|\bopen(ed)? by\b|\bwatcher=`)
	// idle takes it back: "not logged in", "no active session", "no longer connected".
	idle = pattern.MustCompile(`(?i)\b(not|no|no longer|never|isn't|without|zero|0) (any |an )?(logged|active|open|established|connected|online|mapped|mounted|in[ -]use|sessions?|watchers?|clients?|initiators?)\b`)
	// names are what identifies a machine to a storage.
	names = pattern.MustCompile(`\b(iqn\.[0-9]{4}-[0-9]{2}\.[^\s,;()\]"']+|nqn\.[0-9]{4}-[0-9]{2}\.[^\s,;()\]"']+|(?:[0-9a-f]{2}:){7}[0-9a-f]{2}|(?:\d{1,3}\.){3}\d{1,3})`)
)

// ClientLives asks whether the storage said lately, refusing to detach a volume from a
// machine whose Node object is gone, that this machine works with it.
func ClientLives(x *snapshot.Index, va *storagev1.VolumeAttachment) evidence.Answer {
	e := va.Status.DetachError
	if e == nil || x.Node(va.Spec.NodeName) != nil || x.Age(e.Time.Time) > fresh || !SaysUsed(e.Message) || !namesMachine(x, va, e.Message) {
		return evidence.No()
	}
	return evidence.Yes(evidence.FromAPI(vaObject(va), "status.detachError.message", e.Message))
}

// SaysUsed tells whether a storage says that somebody works with a volume.
func SaysUsed(text string) bool { return uses.MatchString(text) && !idle.MatchString(text) }

// namesMachine tells whether a text names the machine of an attachment, or one by an
// initiator or address that is no node's of this cluster.
func namesMachine(x *snapshot.Index, va *storagev1.VolumeAttachment, text string) bool {
	for _, name := range []string{va.Spec.NodeName, va.Annotations[nodeID]} {
		if name != "" && strings.Contains(text, name) && regexp.MustCompile(`(^|[^\w.-])`+regexp.QuoteMeta(name)+`($|[^\w.-]|[.-]($|\W))`).MatchString(strings.ReplaceAll(text, ":", " ")) {
			return true
		}
	}
	return slices.ContainsFunc(names.FindAllString(text, -1), func(name string) bool { return !ours(x, strings.TrimRight(name, ".:")) })
}

func ours(x *snapshot.Index, name string) bool {
	for _, n := range x.Cluster.Nodes {
		if snapshot.HasAddress(n, name) {
			return true
		}
		if view := x.View(n.Name); view != nil && strings.Contains(view.Facts.Files["etc/iscsi/initiatorname.iscsi"].Content, name) {
			return true
		}
	}
	return slices.ContainsFunc(x.Cluster.Pods, func(p *corev1.Pod) bool { return p.Status.PodIP == name || p.Status.HostIP == name })
}
