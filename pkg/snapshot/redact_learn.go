package snapshot

import "strings"

// learnDrivers lets the names of drivers be said, whole and in parts: rules and hashes
// rest on them. A namespace may have the same name.
func (w *vocabulary) learnDrivers(c *Cluster) {
	say := func(names ...string) {
		for _, name := range names {
			w.allow(name)
			for _, form := range []string{name, strings.ReplaceAll(name, ".", "-"), strings.ReplaceAll(name, ".", "/")} {
				if strings.ContainsAny(name, ".-") {
					w.put(form, form)
				}
			}
		}
	}
	for _, d := range c.CSIDrivers {
		say(d.Name)
	}
	for _, s := range c.StorageClasses {
		say(s.Provisioner)
	}
	for _, p := range c.PVs {
		if p.Spec.CSI != nil {
			say(p.Spec.CSI.Driver)
		}
		if p.Spec.FlexVolume != nil {
			say(p.Spec.FlexVolume.Driver)
		}
	}
	for _, va := range c.Attachments {
		say(va.Spec.Attacher)
	}
	for _, n := range c.CSINodes {
		for _, d := range n.Spec.Drivers {
			say(d.Name)
		}
	}
}

// learnContainers learns what users call the containers and volumes of their pods.
func (w *vocabulary) learnContainers(c *Cluster) {
	for _, p := range c.Pods {
		if systemSpace.MatchString(p.Namespace) {
			continue
		}
		for c := range Containers(p) {
			if !ofStorage(c) && w.sweep(c.Name) != c.Name {
				w.name("c", c.Name)
			}
		}
	}
}
