package snapshot

import (
	"cmp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// indexDrivers finds the DaemonSets of the node plugins, by driver.
func (x *Index) indexDrivers() {
	x.driverSets = map[string][]*appsv1.DaemonSet{}
	for _, ds := range x.Cluster.DaemonSets {
		if ds == nil {
			continue
		}
		for _, d := range driversOf(&ds.Spec.Template.Spec) {
			x.driverSets[d] = append(x.driverSets[d], ds)
		}
		if ds.Name == longhornPlugin && !slices.Contains(x.driverSets[LonghornDriver], ds) {
			x.driverSets[LonghornDriver] = append(x.driverSets[LonghornDriver], ds)
		}
	}
}

// driversOf are the CSI drivers that a node plugin registers: the directories of its
// sockets, or, where these are no names of drivers, the names that it is started with.
func driversOf(spec *corev1.PodSpec) []string {
	dirs := socketDirs(spec)
	if len(dirs) == 0 || slices.ContainsFunc(dirs, namesDriver) {
		return dirs
	}
	var named []string
	for _, c := range spec.Containers {
		for _, a := range append(slices.Clone(c.Command), c.Args...) {
			if d := cmp.Or(flagValue(a, "drivername"), flagValue(a, "driver-name")); namesDriver(d) && !slices.Contains(named, d) {
				named = append(named, d)
			}
		}
	}
	if len(named) > 0 {
		return named
	}
	return dirs
}

// namesDriver tells whether a word can be the name of a driver, which has the form of a domain's
// (CSI specification, GetPluginInfo). A socket may lie anywhere: that of nfs.csi.k8s.io in
// csi-nfsplugin, that of secrets-store.csi.k8s.io in csi-secrets-store.
func namesDriver(word string) bool {
	return strings.Contains(word, ".") && !strings.ContainsAny(word, "$(")
}

// isDriver tells whether a word is a driver's name by its form, or as the cluster knows it.
func (x *Index) isDriver(word string) bool {
	return namesDriver(word) || x.CSIDriver(word) != nil || len(x.DriverNodes(word)) > 0
}

// socketDirs are the directories below plugins/ that a node plugin serves in: what the
// registrar is told, else those that it mounts from the host.
func socketDirs(spec *corev1.PodSpec) []string {
	var byArg, byPath []string
	for _, c := range spec.Containers {
		for _, a := range append(slices.Clone(c.Command), c.Args...) {
			if d := pluginDir(flagValue(a, "kubelet-registration-path")); d != "" && !slices.Contains(byArg, d) {
				byArg = append(byArg, d)
			}
		}
	}
	if len(byArg) > 0 {
		return byArg
	}
	for i := range spec.Volumes {
		if h := spec.Volumes[i].HostPath; h != nil {
			if d := pluginDir(h.Path); d != "" && !slices.Contains(byPath, d) {
				byPath = append(byPath, d)
			}
		}
	}
	return byPath
}

// OwnSocket tells whether a path in a text can be the socket of a plugin's pod: one in a
// directory of plugins/ that another driver has is none (Manila's plugin calls that of NFS), and where it registers
// there, one elsewhere is that of a daemon behind it (TopoLVM's calls /run/topolvm/lvmd.sock).
func OwnSocket(plugin *corev1.Pod, text string) bool {
	dir, own := pluginDir(text), socketDirs(&plugin.Spec)
	if _, at, dials := strings.Cut(text, "dial unix /"); dir == "" && dials && len(own) > 0 {
		return strings.Contains(at, "/plugins_registry/") || strings.Contains(at, "csi.sock")
	}
	return dir == "" || len(own) == 0 || slices.Contains(own, dir)
}

// flagValue reads "--name=value" or "-name=value".
func flagValue(arg, name string) string {
	arg = strings.TrimLeft(arg, "-")
	value, ok := strings.CutPrefix(arg, name+"=")
	if !ok {
		return ""
	}
	return strings.Trim(value, `"'`)
}

// pluginDir is the driver in "…/plugins/<driver>/csi.sock"; kubelet's own
// directory plugins/kubernetes.io is none. A plugin for Windows writes its paths with backslashes.
func pluginDir(p string) string {
	_, rest, ok := strings.Cut(strings.ReplaceAll(p, `\`, "/"), "/plugins/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	if name == "kubernetes.io" || strings.ContainsAny(name, "$(") {
		return ""
	}
	return name
}

// DriverNodes returns the nodes whose CSINode lists a driver, sorted.
func (x *Index) DriverNodes(driver string) []string { return x.nodesOfDriver[driver] }

// indexDriverNodes turns the drivers of all CSINodes around.
func (x *Index) indexDriverNodes() {
	x.nodesOfDriver = map[string][]string{}
	for _, n := range x.Cluster.CSINodes {
		if n == nil {
			continue
		}
		for _, d := range n.Spec.Drivers {
			x.nodesOfDriver[d.Name] = append(x.nodesOfDriver[d.Name], n.Name)
		}
	}
	for driver, nodes := range x.nodesOfDriver {
		slices.Sort(nodes)
		x.nodesOfDriver[driver] = slices.Compact(nodes)
	}
}

// setByPresence finds the DaemonSet with a CSI look whose pods exist exactly where CSINode
// lists the driver; of several, or where the driver is lost on a node, the only one whose
// socket's directory speaks of the driver.
func (x *Index) setByPresence(driver string) *appsv1.DaemonSet {
	return x.setOfDriver.get(driver, x.findSetByPresence)
}

func (x *Index) findSetByPresence(driver string) *appsv1.DaemonSet {
	want := x.DriverNodes(driver)
	label, _, _ := strings.Cut(strings.TrimPrefix(driver, "csi."), ".")
	var exact, both, named []*appsv1.DaemonSet
	for _, ds := range x.Cluster.DaemonSets {
		if ds == nil {
			continue
		}
		var nodes []string
		specs := []*corev1.PodSpec{&ds.Spec.Template.Spec}
		for _, p := range x.podsOfSet(ds) {
			if n := p.Spec.NodeName; n != "" {
				nodes = append(nodes, n)
			}
			specs = append(specs, &p.Spec)
		}
		if !x.looksCSI(specs) {
			continue
		}
		slices.Sort(nodes)
		there := len(want) > 0 && slices.Equal(slices.Compact(nodes), want)
		speaks := slices.ContainsFunc(specs, func(s *corev1.PodSpec) bool {
			return slices.ContainsFunc(socketDirs(s), func(dir string) bool { return len(label) > 2 && strings.Contains(dir, label) })
		})
		if there {
			exact = append(exact, ds)
		}
		if speaks {
			named = append(named, ds)
		}
		if there && speaks {
			both = append(both, ds)
		}
	}
	for _, found := range [][]*appsv1.DaemonSet{both, exact, named} {
		if len(found) == 1 {
			return found[0]
		}
	}
	return nil
}

// looksCSI judges a DaemonSet by its template and its pods.
func (x *Index) looksCSI(specs []*corev1.PodSpec) bool {
	found := false
	for _, s := range specs {
		if slices.ContainsFunc(driversOf(s), x.isDriver) {
			return false // it registers another driver
		}
		found = found || slices.ContainsFunc(s.Containers, func(c corev1.Container) bool {
			return strings.Contains(c.Image, "registrar") || strings.Contains(c.Name, "registrar") || strings.Contains(c.Name, "csi")
		})
	}
	return found
}
