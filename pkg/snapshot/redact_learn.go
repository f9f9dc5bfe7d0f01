package snapshot

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

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
		for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
			for i := range list {
				if !ofStorage(&list[i]) && w.sweep(list[i].Name) != list[i].Name {
					w.name("c", list[i].Name)
				}
			}
		}
	}
}
