package noise

import (
	"fmt"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
)

// frontendWait is how long the CSI plugin may miss the frontend after an attach.
const frontendWait = 3 * time.Minute

// blockFrontendTransient: the plugin asks for the device before the engine shows it.
var blockFrontendTransient = &diagnosis.NoiseRule{Name: "block-frontend-transient", Run: func(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		lh := v.LH()
		if lh == nil || lh.DisableFrontend || lh.Status.FrontendDisabled {
			continue
		}
		var first, last time.Time
		for _, t := range p.Texts(v) {
			if !t.Is(message.NoFrontend) || t.At.IsZero() {
				continue
			}
			if first.IsZero() || t.At.Before(first) {
				first = t.At
			}
			if t.At.After(last) {
				last = t.At
			}
		}
		for _, c := range v.Consumers {
			for _, e := range p.Events("Pod", c.Pod.Namespace, c.Pod.Name) {
				if e.Last.Equal(last) && !e.First.IsZero() && e.First.Before(first) {
					first = e.First
				}
			}
		}
		if last.IsZero() || last.Sub(first) > frontendWait || p.Suffers(v, "mount-failed") && p.Age(last) < settle {
			continue
		}
		p.AddNoise(diagnosis.ObjectSubject("Volume", lh.Namespace, lh.Name),
			fmt.Sprintf("The CSI plugin found no block device frontend of volume %s for %s.", lh.Name, evidence.Duration(last.Sub(first))),
			"the plugin retries until the engine's frontend is up, which takes seconds after an attach")
	}
}}

// settle is the longest pause between two attempts of the kubelet (2m2s).
const settle = 2 * time.Minute
