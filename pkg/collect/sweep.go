package collect

// sweep asks for everything: a hazard that several nodes share is seen only so.
func (c *collector) sweep() {
	for _, r := range everything {
		c.want(want{res: r})
	}
	for _, claim := range c.snap.Cluster.Claims {
		c.attributesOf(claim)
	}
}
