package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/collect"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// live reads a cluster through the kubeconfig that kubectl would use.
type live struct {
	config   *rest.Config
	probe    prober // nil: nodes are not asked
	progress *progress
	appLogs  bool     // read the logs of the volumes' users, too
	only     []string // the nodes of a preflight
}

// prober looks at the nodes of a question and adds what it finds to the snapshot.
type prober func(ctx context.Context, config *rest.Config, show func(string), s *snapshot.Snapshot, q diagnosis.Question) error

// newLive builds the source that reads a live cluster.
func newLive(flags *genericclioptions.ConfigFlags, probe prober, appLogs bool, only []string, errOut io.Writer) (Source, error) {
	if nowhere(flags) {
		return nil, noCluster()
	}
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	config.UserAgent = "kubectl-mountdoctor/" + version()
	config.WarningHandler = rest.NoWarnings{} // deprecations are no news to who reads at night
	return live{config: config, probe: probe, progress: newProgress(errOut), appLogs: appLogs, only: only}, nil
}

// noCluster says that nothing names a cluster, and which files were looked for.
func noCluster() error {
	read := ""
	if files := os.Getenv("KUBECONFIG"); files != "" {
		read = " (KUBECONFIG is " + strconv.Quote(files) + ")"
	}
	return errors.New("no cluster is configured" + read + ": name one with KUBECONFIG or the flags of kubectl, or give a snapshot with --from PATH")
}

// nowhere tells whether nothing says where the cluster is. client-go then takes
// localhost:8080, whose refusal would send the reader the wrong way.
func nowhere(flags *genericclioptions.ConfigFlags) bool {
	raw, err := flags.ToRawKubeConfigLoader().RawConfig()
	return err == nil && len(raw.Clusters) == 0 && (flags.APIServer == nil || *flags.APIServer == "") && os.Getenv("KUBERNETES_SERVICE_HOST") == ""
}

// Snapshot reads the objects, looks at the nodes that they lead to, and reads the
// objects that the nodes name.
func (l live) Snapshot(ctx context.Context, q diagnosis.Question) (*snapshot.Snapshot, error) {
	defer l.progress.done()
	o := collect.Options{Progress: l.progress.show, AppLogs: l.appLogs}
	if l.probe != nil {
		o.Nodes = func(ctx context.Context, s *snapshot.Snapshot) error {
			l.progress.show("looking at nodes")
			return l.probe(ctx, l.config, l.progress.show, s, q)
		}
	}
	return collect.Collect(ctx, l.config, collect.Question{Kind: q.Kind, Namespace: q.Namespace, Name: q.Name, Names: l.only}, o)
}
