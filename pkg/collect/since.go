package collect

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// since reads the pods of the nodes that were looked at once more: a pod that came after
// the first list is on the node and would be nobody's. One that went was deleted at that
// very time; it may have been seen there or not, and is kept as one that ends. What cannot
// be read again stays as it is. The objects of the second list are returned.
func (c *collector) since(ctx context.Context) (latest map[types.UID]json.RawMessage) {
	x := snapshot.NewIndex(c.snap)
	latest = map[types.UID]json.RawMessage{}
	for node := range c.snap.Nodes {
		view := x.View(node)
		if view == nil {
			continue
		}
		before, now, raw := c.podsAgain(ctx, x, node)
		maps.Copy(latest, raw)
		gone, come := moved(before, now, tracesOf(view))
		for _, pod := range gone {
			if pod.DeletionTimestamp == nil {
				pod.DeletionTimestamp = &metav1.Time{Time: c.snap.TakenAt}
			}
		}
		for _, uid := range come {
			delete(c.have, haveKey(pods, now[uid].Namespace, now[uid].Name))
			c.add(pods, raw[uid])
		}
	}
	return latest
}

// podsAgain lists the pods of a node as they were listed before, of one namespace where no
// more may be listed: before are those that this list has, too. Nothing when they were not
// listed, or cannot be.
func (c *collector) podsAgain(ctx context.Context, x *snapshot.Index, node string) (before []*corev1.Pod, now map[types.UID]*corev1.Pod, raw map[types.UID]json.RawMessage) {
	for _, w := range []want{{res: pods, fields: "spec.nodeName=" + node}, {res: pods}, {res: pods, namespace: c.q.Namespace}} {
		if !c.asked[w.key()] || c.refused[w.refusal()] {
			continue
		}
		w.fields = "spec.nodeName=" + node
		a := c.ask(ctx, w)
		if a.err != nil {
			break
		}
		before = slices.DeleteFunc(slices.Clone(x.PodsOn(node)), func(p *corev1.Pod) bool { return w.namespace != "" && p.Namespace != w.namespace })
		now, raw = map[types.UID]*corev1.Pod{}, map[types.UID]json.RawMessage{}
		for _, item := range a.items {
			pod := &corev1.Pod{}
			if err := json.Unmarshal(item, pod); err == nil && pod.UID != "" {
				now[pod.UID], raw[pod.UID] = pod, item
			}
		}
		return before, now, raw
	}
	return nil, nil, nil
}

// moved compares the pods of a node from before it was looked at with those from after:
// which went, and which came early enough to be seen there. With nothing from after,
// nothing moved.
func moved(before []*corev1.Pod, now map[types.UID]*corev1.Pod, seen map[types.UID]bool) (gone []*corev1.Pod, come []types.UID) {
	if now == nil {
		return nil, nil
	}
	known := map[types.UID]bool{}
	for _, p := range before {
		known[p.UID] = true
		if now[p.UID] == nil {
			gone = append(gone, p)
		}
	}
	for uid := range now {
		if !known[uid] && seen[uid] {
			come = append(come, uid)
		}
	}
	slices.Sort(come)
	return gone, come
}

// tracesOf are the pods of which a node has processes, mounts or directories.
func tracesOf(view *snapshot.NodeView) map[types.UID]bool {
	out := map[types.UID]bool{}
	add := func(uid string) {
		if uid != "" {
			out[types.UID(strings.ReplaceAll(uid, "_", "-"))] = true // systemd writes "_"
		}
	}
	for _, p := range view.Processes() {
		add(p.PodUID)
	}
	for _, m := range view.VolumePaths() {
		add(m.Path.PodUID)
	}
	for _, d := range view.Facts.Kubelet.PodDirs {
		add(d.UID)
	}
	return out
}
