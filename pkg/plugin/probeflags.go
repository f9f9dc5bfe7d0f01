package plugin

import (
	"context"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/launch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// probeFlags are the user's words about looking at nodes.
type probeFlags struct {
	off        bool // --no-probe
	on         bool // --probe, only where it is not the default
	asked      bool // whether this verb has --probe
	show       bool // --print-probe-pod
	image      string
	namespace  string
	pullSecret string
	timeout    time.Duration
	appLogs    bool // --with-app-logs
}

// add declares the flags. A sweep of the cluster looks at nodes only on
// request: it would start a pod on each of them.
func (p *probeFlags) add(f *pflag.FlagSet, kind string) {
	f.BoolVar(&p.off, "no-probe", false, "Do not look at nodes; what only a node can tell is reported as not checked.")
	if p.asked = kind == "cluster"; p.asked {
		f.BoolVar(&p.on, "probe", false, "Also look at every node with storage, through one short-lived privileged pod each.")
	}
	f.StringVar(&p.image, "probe-image", "", "Image of the probe pods, best by its digest; it needs sh, cat and chmod. Default: that of Longhorn or of a CSI driver of the node, else "+launch.DefaultImage+".")
	f.StringVar(&p.namespace, "probe-namespace", "", "Namespace of the probe pods. Default: where Longhorn's objects are, else kube-system.")
	f.StringVar(&p.pullSecret, "probe-pull-secret", "", "Name of a Secret in that namespace to pull the image with.")
	f.DurationVar(&p.timeout, "probe-timeout", launch.DefaultTimeout, "Give up a node after this time, image pull included.")
	f.BoolVar(&p.appLogs, "with-app-logs", false, "Also read the logs of the containers that use the volume, for what they say of I/O.")
	f.BoolVar(&p.show, "print-probe-pod", false, "Print the pods that would be created, and create none.")
}

// validate refuses flags that exclude each other.
func (p *probeFlags) validate() error {
	switch {
	case p.off && p.on:
		return usagef("--probe and --no-probe exclude each other")
	case p.off && p.show:
		return usagef("--print-probe-pod and --no-probe exclude each other")
	case p.timeout < 5*time.Second:
		return usagef("--probe-timeout %s is shorter than any pod takes to start, want at least 5s", p.timeout)
	}
	return nil
}

// wanted tells whether nodes are looked at.
func (p *probeFlags) wanted() bool { return !p.off && (p.on || !p.asked) }

func (p *probeFlags) options() launch.Options {
	return launch.Options{Image: p.image, Namespace: p.namespace, PullSecret: p.pullSecret, Timeout: p.timeout}
}

// prober looks at the nodes of a question, or is nil when they are left alone.
func (p *probeFlags) prober(errOut io.Writer, only []string) prober {
	if !p.wanted() || p.show {
		return nil
	}
	return func(ctx context.Context, config *rest.Config, show func(string), s *snapshot.Snapshot, q diagnosis.Question) error {
		options := p.options()
		options.Progress = func(node, what string) { show(node + ": " + what) }
		options.Warn = func(what string) { fmt.Fprintf(errOut, "warning: %s\n", printable(what)) }
		plan := launch.NewPlan(snapshot.NewIndex(s), launch.Question{Kind: q.Kind, Namespace: q.Namespace, Name: q.Name, Names: only}, options)
		records, gaps := launch.Probe(ctx, config, plan, options)
		// After Ctrl-C the gaps say what was interrupted, and what the API told is
		// still worth its report.
		if s.Nodes == nil {
			s.Nodes = map[string]*snapshot.NodeRecord{}
		}
		maps.Copy(s.Nodes, records)
		s.Gaps = append(s.Gaps, gaps...)
		return nil
	}
}

// printPods writes the pods that a question would need, one document each.
func (p *probeFlags) printPods(out, errOut io.Writer, s *snapshot.Snapshot, q diagnosis.Question, only []string) error {
	options := p.options()
	plan := launch.NewPlan(snapshot.NewIndex(s), launch.Question{Kind: q.Kind, Namespace: q.Namespace, Name: q.Name, Names: only}, options)
	for _, gap := range plan.Gaps {
		fmt.Fprintf(errOut, "%s: no pod: %s\n", gap.Need, printable(gap.Detail))
	}
	for _, t := range plan.Targets {
		text, err := yaml.Marshal(launch.PrintPod(plan, t, options))
		if err != nil {
			return fmt.Errorf("print the pod for node %s: %w", t.Node, err)
		}
		if _, err := fmt.Fprintf(out, "---\n%s%s", why(plan, t), text); err != nil {
			return err
		}
	}
	return nil
}

// why says in comments of YAML why the pod is made there and from that image, and
// what is tried when that image does not start.
func why(plan launch.Plan, t launch.Target) string {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString("# " + printable(fmt.Sprintf(format, args...)) + "\n") }
	line("Node %s.", t.Node)
	line("Namespace %s, because %s.", plan.Place.Namespace, plan.Place)
	for i, image := range t.Images {
		word := "Image"
		if i > 0 {
			word = "If that does not start: image"
		}
		line("%s %s, because %s.", word, image.Ref, image.Reason)
		if !launch.Pinned(image.Ref) {
			line("This image has no digest: who may push it decides what runs as root on the node.")
		} else if image.Name != image.Ref {
			line("Its workload calls it %s.", image.Name)
		}
	}
	return b.String()
}
