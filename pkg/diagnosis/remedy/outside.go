package remedy

// EndOutside ends the use of a volume by a machine that is no node of the cluster.
func EndOutside(machine string) []Step {
	return Sentences(
		titled("Find the machine %s and end the use of the volume there first: stop what runs with it, unmount and unmap it. A Node object that is missing does not mean that the machine is off. The next attempt here then succeeds by itself.", machine),
		"Only once you have made sure that this machine is off for good, its client may be fenced in the storage; a client that lives loses what it has not written, and two writers destroy the filesystem.",
	)
}

// AskWatchers finds out who has an image of Ceph open.
func AskWatchers(image string) []Step {
	return Sentences(titled("Ask Ceph who watches the image (%s) and compare the addresses with the nodes. Fence nobody who is not known and known to be off: the client lives.", Inline("rbd", "status", image)))
}
