package plugin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/kubernetes"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/launch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/serverclock"
)

// cleanupOptions are the flags of cleanup.
type cleanupOptions struct {
	verb
	yes bool
	all bool

	client     kubernetes.Interface
	namespaces []string
	clock      serverclock.Clock
	now        time.Time // by that clock
	patience   time.Duration
}

// newCleanup removes what a killed run left behind.
func newCleanup(v verb) *cobra.Command {
	o := &cleanupOptions{verb: v}
	cmd := &cobra.Command{
		Use:   "cleanup",
		Short: "Remove probe pods that a killed run left behind",
		Long: `List the probe pods whose run is over, and delete them after a confirmation.

A run deletes its pods itself, also on Ctrl-C, and the kubelet ends each after a
few minutes. Only a run that was killed, or lost its cluster, leaves one to delete.
Nothing but pods that this tool created is touched.`,
		Example: `  # list, ask, delete
  kubectl mountdoctor cleanup

  # without a question, in one namespace only
  kubectl mountdoctor cleanup --yes -n longhorn-system`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Complete(); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "Delete without asking.")
	cmd.Flags().BoolVar(&o.all, "all", false, "Also delete the pods of runs that may still go on.")
	return cmd
}

// Complete finds the cluster. Without -n all namespaces are searched.
func (o *cleanupOptions) Complete() error {
	if nowhere(o.config) {
		return noCluster()
	}
	config, err := o.config.ToRESTConfig()
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	config.ContentType = runtime.ContentTypeJSON
	config.Wrap(o.clock.Listen)
	if o.client, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("build a client: %w", err)
	}
	o.patience = goneWithin
	o.namespaces = []string{metav1.NamespaceAll}
	if o.config.Namespace != nil && *o.config.Namespace != "" {
		o.namespaces = []string{*o.config.Namespace}
	}
	return nil
}

// Run lists, asks and deletes.
func (o *cleanupOptions) Run(ctx context.Context) error {
	pods, unseen, err := o.find(ctx)
	if err != nil {
		return err
	}
	if o.now.IsZero() {
		o.now = o.clock.At(time.Now())
	}
	var ended, going []corev1.Pod
	for _, p := range pods {
		if o.all || o.over(&p) {
			ended = append(ended, p)
		} else {
			going = append(going, p)
		}
	}
	if len(pods) > 0 {
		if err := o.list(pods); err != nil {
			return err
		}
	}
	if n := len(going); n > 0 {
		fmt.Fprintf(o.streams.ErrOut, "%s a run that may still go on: left alone; --all includes what is of such runs.\n",
			counted(n, "1 probe pod is of", "%d probe pods are of"))
	}
	if len(ended) == 0 {
		o.nothing(len(going), unseen)
		return nil
	}
	if !o.yes {
		if err := o.ask(len(ended)); err != nil {
			return err
		}
	}
	return o.delete(ctx, ended)
}

func counted(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

// nothing says what there is no pod of, and no more than was seen.
func (o *cleanupOptions) nothing(going int, unseen []string) {
	where := ""
	if len(unseen) > 0 {
		where = ", as far as could be seen: " + strings.Join(unseen, " and ") + " could not be searched"
	}
	if going == 0 {
		fmt.Fprintf(o.streams.ErrOut, "No probe pods are left behind%s.\n", where)
		return
	}
	fmt.Fprintf(o.streams.ErrOut, "No probe pod of a run that is over is left behind%s.\n", where)
}

// over tells whether nothing can go on in a pod.
func (o *cleanupOptions) over(p *corev1.Pod) bool {
	return launch.Expired(p, o.now) || p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
}

// find looks everywhere, else where probe pods usually run. It also returns what
// could not be searched.
func (o *cleanupOptions) find(ctx context.Context) (pods []corev1.Pod, unseen []string, err error) {
	pods, err = launch.Leftovers(ctx, o.client, o.namespaces[0])
	if !apierrors.IsForbidden(err) || o.namespaces[0] != metav1.NamespaceAll {
		return pods, nil, err
	}
	fmt.Fprintln(o.streams.ErrOut, "Pods of all namespaces may not be listed; longhorn-system and kube-system are searched, -n names another.")
	unseen = []string{"every other namespace"}
	var failed []error
	for _, namespace := range []string{"longhorn-system", metav1.NamespaceSystem} {
		some, err := launch.Leftovers(ctx, o.client, namespace)
		if err != nil {
			failed = append(failed, fmt.Errorf("namespace %s: %w", namespace, err))
			unseen = append(unseen, "namespace "+namespace)
			continue
		}
		pods = append(pods, some...)
	}
	if len(failed) == 2 {
		return nil, nil, errors.Join(failed...)
	}
	return pods, unseen, nil
}

func (o *cleanupOptions) list(pods []corev1.Pod) error {
	table := &metav1.Table{}
	for _, name := range []string{"Namespace", "Name", "Node", "Phase", "Age", "Run"} {
		table.ColumnDefinitions = append(table.ColumnDefinitions, metav1.TableColumnDefinition{Name: name, Type: "string"})
	}
	for i := range pods {
		p := &pods[i]
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{p.Namespace, p.Name, p.Spec.NodeName, phase(p),
			o.now.Sub(p.CreationTimestamp.Time).Truncate(time.Second).String(), o.stateOfRun(p)}})
	}
	return printers.NewTablePrinter(printers.PrintOptions{}).PrintObj(table, o.streams.Out)
}

// phase is that of the pod; one that was deleted and is still there runs until its
// kubelet says that it does not.
func phase(p *corev1.Pod) string {
	if p.DeletionTimestamp != nil {
		return "Terminating"
	}
	return string(p.Status.Phase)
}

func (o *cleanupOptions) stateOfRun(p *corev1.Pod) string {
	if o.over(p) {
		return "over"
	}
	return "may go on, until " + launch.Expiry(p).UTC().Format("15:04:05 UTC")
}

var errNotConfirmed = errors.New("nothing was deleted; answer \"yes\" or give --yes")

func (o *cleanupOptions) ask(n int) error {
	fmt.Fprintf(o.streams.ErrOut, "Delete these %d pods? [yes/no] ", n)
	line, _ := bufio.NewReader(o.streams.In).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "yes" && answer != "y" {
		return errNotConfirmed
	}
	return nil
}

// goneWithin is how long a pod is waited for that was deleted: its grace period is
// a second, and the kubelet reports its end a little later.
const goneWithin = 20 * time.Second

// delete goes on after a failure and tells all of them. The API server's answer to
// a deletion is a promise of the kubelet's; whether it was kept is looked at.
func (o *cleanupOptions) delete(ctx context.Context, pods []corev1.Pod) error {
	var failed []error
	var deleted []*corev1.Pod
	for i := range pods {
		if err := launch.Remove(ctx, o.client, &pods[i]); err != nil {
			failed = append(failed, err)
			continue
		}
		deleted = append(deleted, &pods[i])
	}
	ctx, cancel := context.WithTimeout(ctx, o.patience)
	defer cancel()
	for _, p := range deleted {
		if err := launch.Gone(ctx, o.client, p); err != nil {
			failed = append(failed, err)
			continue
		}
		fmt.Fprintf(o.streams.ErrOut, "pod %s/%s deleted\n", p.Namespace, p.Name)
	}
	return errors.Join(failed...)
}
