package collect

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"

// sweep asks for everything: a hazard that several nodes share is seen only so.
func (c *collector) sweep() {
	for _, r := range everything {
		c.want(want{res: r})
	}
	for _, claim := range c.snap.Cluster.Claims {
		c.attributesOf(claim)
	}
}

// namespace asks for what a sweep of one namespace is about, in lists of that namespace; from there
// on references are followed as for a single claim. The attachments are one list, because each volume
// could have one with each node.
func (c *collector) namespace(x *snapshot.Index) {
	for _, r := range []*resource{pods, claims, events, replicaSets, deployments, statefulSets, jobs, cronJobs} {
		c.want(want{res: r, namespace: c.q.Namespace})
	}
	c.want(want{res: attachments})
	for _, pod := range x.PodsIn(c.q.Namespace) {
		c.pod(x, pod)
	}
}
