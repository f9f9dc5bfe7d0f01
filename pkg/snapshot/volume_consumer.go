package snapshot

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// consumersOf lists the pods of a claim with how they use it.
func consumersOf(pods []*corev1.Pod, claim string) []*Consumer {
	var out []*Consumer
	for _, p := range pods {
		for i := range p.Spec.Volumes {
			if v := &p.Spec.Volumes[i]; claimOfVolume(p, v) == claim {
				out = append(out, newConsumer(p, v.Name))
			}
		}
	}
	return out
}

func newConsumer(p *corev1.Pod, volume string) *Consumer {
	c := &Consumer{Pod: p, Volume: volume}
	containers := append(append([]corev1.Container{}, p.Spec.InitContainers...), p.Spec.Containers...)
	for _, k := range containers {
		for _, d := range k.VolumeDevices {
			c.Block = c.Block || d.Name == volume
		}
		for _, m := range k.VolumeMounts {
			c.SubPath = c.SubPath || (m.Name == volume && (m.SubPath != "" || m.SubPathExpr != ""))
		}
	}
	return c
}

// Live tells whether the pod has not finished. A finished pod no longer counts
// for the attach-detach controller.
func (c *Consumer) Live() bool {
	phase := c.Pod.Status.Phase
	return phase != corev1.PodSucceeded && phase != corev1.PodFailed
}

// Terminating tells whether the pod is being deleted.
func (c *Consumer) Terminating() bool { return c.Pod.DeletionTimestamp != nil }

// Waiting tells whether the pod shall run and does not yet: Pending, with or
// without a node, creating its containers or in its init containers.
func (c *Consumer) Waiting() bool {
	phase := c.Pod.Status.Phase
	return (phase == corev1.PodPending || phase == "") && !c.Terminating()
}

// Node is the node that the pod is bound to, or empty.
func (c *Consumer) Node() string { return c.Pod.Spec.NodeName }

// Waiting returns the consumers that do not run yet.
func (v *Volume) Waiting() []*Consumer { return v.consumers((*Consumer).Waiting) }

// Live returns the consumers that have not finished.
func (v *Volume) Live() []*Consumer { return v.consumers((*Consumer).Live) }

// Terminating returns the consumers that are being deleted.
func (v *Volume) Terminating() []*Consumer { return v.consumers((*Consumer).Terminating) }

// Running returns the live consumers whose containers were started.
func (v *Volume) Running() []*Consumer {
	return v.consumers(func(c *Consumer) bool { return c.Pod.Status.Phase == corev1.PodRunning })
}

// Finished returns the consumers that succeeded or failed.
func (v *Volume) Finished() []*Consumer {
	return v.consumers(func(c *Consumer) bool { return !c.Live() })
}

// LiveConsumersOn returns the live consumers bound to a node.
func (v *Volume) LiveConsumersOn(node string) []*Consumer {
	return v.consumers(func(c *Consumer) bool { return c.Live() && c.Node() == node })
}

// WaitingOn returns the waiting consumers bound to a node.
func (v *Volume) WaitingOn(node string) []*Consumer {
	return v.consumers(func(c *Consumer) bool { return c.Waiting() && c.Node() == node })
}

func (v *Volume) consumers(keep func(*Consumer) bool) []*Consumer {
	if v == nil {
		return nil
	}
	var out []*Consumer
	for _, c := range v.Consumers {
		if keep(c) {
			out = append(out, c)
		}
	}
	return out
}

// ServedSince tells whether the volume is in use on a node (empty: anywhere) and all
// pods that use it there run in containers that were started after a moment: what
// happened before is history. Of a pod that ends, nothing is history.
func (v *Volume) ServedSince(node string, at time.Time) bool {
	some := false
	for _, c := range v.Live() {
		if node != "" && c.Node() != node {
			continue
		}
		if at.IsZero() || c.Terminating() || !startedAfter(c.Pod, at) {
			return false
		}
		some = true
	}
	return some
}

// startedAfter tells whether a pod came to its node, or got its volumes there, after a moment,
// and runs since.
func startedAfter(p *corev1.Pod, at time.Time) bool {
	s := p.Status.StartTime
	if p.Status.Phase != corev1.PodRunning || (s == nil || s.Time.Before(at)) && !PodProvided(p).After(at) {
		return false
	}
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Running == nil || c.RestartCount > 0 {
			return false
		}
	}
	return true
}
