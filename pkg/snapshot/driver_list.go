package snapshot

import "slices"

// Drivers are the CSI drivers that anything in the cluster names, sorted: a CSIDriver,
// a CSINode, or a DaemonSet that registers one.
func (x *Index) Drivers() []string {
	var out nodeList
	for _, d := range x.Cluster.CSIDrivers {
		if d != nil {
			out.add(d.Name)
		}
	}
	for d := range x.nodesOfDriver {
		out.add(d)
	}
	for d := range x.driverSets {
		out.add(d)
	}
	slices.Sort(out)
	return out
}

// ServesStorage tells whether the node plugin of a driver, or Longhorn, lives in a
// namespace.
func (x *Index) ServesStorage(namespace string) bool {
	if namespace == x.longhornNS && namespace != "" {
		return true
	}
	return slices.ContainsFunc(x.Drivers(), func(d string) bool { return slices.Contains(x.driverNamespaces(d), namespace) })
}
