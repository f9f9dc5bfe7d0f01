package collect

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// look asks the nodes. That takes some seconds up to a minute, in which a volume may move
// on: then what the objects said before and what the machines show after belong to two
// moments, and a state that has passed would be blamed. So what decides is read once more;
// where it changed, the nodes are asked again, once. Where it changes even then, nothing that rests
// on a node is certain.
func (c *collector) look(ctx context.Context) error {
	if err := c.o.Nodes(ctx, c.snap); err != nil {
		return err
	}
	latest := c.since(ctx)
	if !c.movedOn(ctx, latest) {
		return nil
	}
	c.o.Progress("the volume moved on meanwhile: looking again")
	c.snap.Gaps = slices.DeleteFunc(c.snap.Gaps, func(g snapshot.Gap) bool { return strings.HasPrefix(g.Need, "node/") })
	c.snap.Nodes = map[string]*snapshot.NodeRecord{}
	c.snap.TakenAt = c.snap.TakenAt.Add(time.Since(c.begun)).Truncate(time.Second)
	if err := c.close(ctx); err != nil && ctx.Err() == nil { // an interruption leaves gaps, as after the first look
		return err
	}
	if err := c.o.Nodes(ctx, c.snap); err != nil {
		return err
	}
	if latest = c.since(ctx); c.movedOn(ctx, latest) {
		for _, node := range slices.Sorted(maps.Keys(c.snap.Nodes)) {
			c.gap("node/"+node, snapshot.Moved, "the volume moved on again during the second look: what the machine shows and what the objects say are of two moments")
		}
	}
	return nil
}

// mostAgain bounds how many volumes of one question are read again.
const mostAgain = 4

// movedOn reads again what says where the volumes of the question are (claim, attachments,
// Longhorn's volume) and puts it in the place of what was read before; pods were listed
// already. It tells whether anything changed that an answer rests on. In a sweep of many
// volumes something always does.
func (c *collector) movedOn(ctx context.Context, latest map[types.UID]json.RawMessage) bool {
	if !c.rereads() || ctx.Err() != nil {
		return false // what was read is worth its report
	}
	moved := false
	for _, v := range c.ofQuestion(snapshot.NewIndex(c.snap)) {
		if v.Claim != nil && c.renew(ctx, claims, v.Claim.Namespace, v.Claim.Name) {
			moved = true
		}
		for _, name := range c.attachmentsOf(v) {
			if c.renew(ctx, attachments, "", name) {
				moved = true
			}
		}
		if lh := v.LH(); lh != nil && c.renew(ctx, lhVolumes, lh.Namespace, lh.Name) {
			moved = true
		}
		for _, u := range v.Consumers {
			p := u.Pod
			raw := latest[p.UID]
			switch {
			case raw != nil:
				moved = c.replace(pods, p.Namespace, p.Name, raw) || moved
			case p.Spec.NodeName == "":
				moved = c.renew(ctx, pods, p.Namespace, p.Name) || moved
			default: // it went, or runs on a node that was not looked at
				moved = moved || p.DeletionTimestamp != nil && p.DeletionTimestamp.Time.Equal(c.snap.TakenAt)
			}
		}
	}
	if moved {
		for node := range c.snap.Nodes {
			c.renew(ctx, nodes, "", node)
		}
	}
	return moved
}

// rereads tells whether a question is about volumes by name: then what decides is kept to be
// compared. In a sweep it is not.
func (c *collector) rereads() bool {
	return c.o.Nodes != nil && slices.Contains([]string{"pvc", "volume", "pod"}, c.q.Kind)
}

// ofQuestion are the volumes that a question names.
func (c *collector) ofQuestion(x *snapshot.Index) []*snapshot.Volume {
	var out []*snapshot.Volume
	switch c.q.Kind {
	case "pvc":
		out = append(out, x.VolumeOfClaim(c.q.Namespace, c.q.Name))
	case "volume":
		if out = append(out, x.VolumeOfPV(c.q.Name)); out[0] == nil {
			out[0] = x.VolumeOfLonghorn(c.q.Name)
		}
	case "pod":
		if pod := x.Pod(c.q.Namespace, c.q.Name); pod != nil {
			out = x.VolumesOfPod(pod)
		}
	}
	out = slices.DeleteFunc(slices.Clone(out), func(v *snapshot.Volume) bool { return v == nil })
	return out[:min(len(out), mostAgain)]
}

// attachmentsOf are the names of the attachments that a volume has, or would have on the
// nodes that were looked at.
func (c *collector) attachmentsOf(v *snapshot.Volume) []string {
	var out []string
	for _, va := range v.Attachments {
		out = append(out, va.Name)
	}
	for node := range c.snap.Nodes {
		if handle, driver := v.CSIHandle(), v.CSIName(); handle != "" && driver != "" && c.wasAsked(attachments, "", snapshot.AttachmentName(handle, driver, node)) {
			out = append(out, snapshot.AttachmentName(handle, driver, node))
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), mostAgain)]
}

// renew reads an object once more. What cannot be read stays as it was.
func (c *collector) renew(ctx context.Context, r *resource, namespace, name string) bool {
	w := want{res: r, namespace: namespace, name: name}
	if ctx.Err() != nil || len(c.servedIn(r)) == 0 || c.refused[w.refusal()] {
		return false
	}
	a := c.ask(ctx, w)
	switch {
	case a.err == nil:
		return c.replace(r, namespace, name, a.items[0])
	case absent(a.err) && r == attachments && c.have[haveKey(r, namespace, name)]:
		c.drop(r, namespace, name)
		return true
	}
	return false
}

// replace puts an object in the place of the one of its name, and tells whether what decides
// of the two differs.
func (c *collector) replace(r *resource, namespace, name string, raw json.RawMessage) bool {
	was := c.decided[haveKey(r, namespace, name)]
	if now := decisive(r, raw); r != nodes && was == now {
		return false
	}
	c.drop(r, namespace, name)
	c.add(r, raw)
	return r != nodes
}

// decisive is what of an object says where a volume is and who wants it.
func decisive(r *resource, raw []byte) string {
	var o struct {
		Metadata struct {
			UID               string
			DeletionTimestamp string
		}
		Spec   struct{ NodeName, VolumeName string }
		Status struct {
			Phase, State, Robustness, CurrentNodeID string
			Attached                                bool
		}
	}
	if r != claims && r != pods && r != attachments && r != lhVolumes || json.Unmarshal(raw, &o) != nil {
		return ""
	}
	if o.Status.Robustness != "faulted" { // healthy or degraded: it is where it was
		o.Status.Robustness = ""
	}
	return fmt.Sprint(o.Metadata.UID, o.Metadata.DeletionTimestamp != "", o.Spec, o.Status)
}

// drop takes an object out of the snapshot.
func (c *collector) drop(r *resource, namespace, name string) {
	delete(c.have, haveKey(r, namespace, name))
	k := &c.snap.Cluster
	switch r {
	case claims:
		k.Claims = slices.DeleteFunc(k.Claims, func(o *corev1.PersistentVolumeClaim) bool { return o.Namespace == namespace && o.Name == name })
	case pods:
		k.Pods = slices.DeleteFunc(k.Pods, func(o *corev1.Pod) bool { return o.Namespace == namespace && o.Name == name })
	case nodes:
		k.Nodes = slices.DeleteFunc(k.Nodes, func(o *corev1.Node) bool { return o.Name == name })
	case attachments:
		k.Attachments = slices.DeleteFunc(k.Attachments, func(o *storagev1.VolumeAttachment) bool { return o.Name == name })
	case lhVolumes:
		k.Longhorn.Volumes = slices.DeleteFunc(k.Longhorn.Volumes, func(o *snapshot.LHVolume) bool { return o.Name == name })
	}
}
