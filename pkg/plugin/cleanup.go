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
)

// cleanupOptions are the flags of cleanup.
type cleanupOptions struct {
	verb
	yes bool
	all bool

	client     kubernetes.Interface
	namespaces []string
	now        time.Time
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
	config, err := o.config.ToRESTConfig()
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	config.ContentType = runtime.ContentTypeJSON
	if o.client, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("build a client: %w", err)
	}
	o.now = time.Now()
	o.namespaces = []string{metav1.NamespaceAll}
	if o.config.Namespace != nil && *o.config.Namespace != "" {
		o.namespaces = []string{*o.config.Namespace}
	}
	return nil
}

// Run lists, asks and deletes.
func (o *cleanupOptions) Run(ctx context.Context) error {
	pods, err := o.find(ctx)
	if err != nil {
		return err
	}
	ended := pods[:0:0]
	for _, p := range pods {
		if o.all || launch.Expired(&p, o.now) || p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
			ended = append(ended, p)
		}
	}
	if n := len(pods) - len(ended); n > 0 {
		fmt.Fprintf(o.streams.ErrOut, "%d probe pods belong to runs that may still go on; --all includes them\n", n)
	}
	if len(ended) == 0 {
		fmt.Fprintln(o.streams.ErrOut, "No probe pods are left behind.")
		return nil
	}
	if err := o.list(ended); err != nil {
		return err
	}
	if !o.yes {
		if err := o.ask(len(ended)); err != nil {
			return err
		}
	}
	return o.delete(ctx, ended)
}

// find looks everywhere, else where probe pods usually run.
func (o *cleanupOptions) find(ctx context.Context) ([]corev1.Pod, error) {
	pods, err := launch.Leftovers(ctx, o.client, o.namespaces[0])
	if !apierrors.IsForbidden(err) || o.namespaces[0] != metav1.NamespaceAll {
		return pods, err
	}
	fmt.Fprintln(o.streams.ErrOut, "Pods of all namespaces may not be listed; longhorn-system and kube-system are searched, -n names another.")
	for _, namespace := range []string{"longhorn-system", "kube-system"} {
		some, err := launch.Leftovers(ctx, o.client, namespace)
		if err != nil {
			return nil, fmt.Errorf("namespace %s: %w", namespace, err)
		}
		pods = append(pods, some...)
	}
	return pods, nil
}

func (o *cleanupOptions) list(pods []corev1.Pod) error {
	table := &metav1.Table{}
	for _, name := range []string{"Namespace", "Name", "Node", "Phase", "Age"} {
		table.ColumnDefinitions = append(table.ColumnDefinitions, metav1.TableColumnDefinition{Name: name, Type: "string"})
	}
	for i := range pods {
		p := &pods[i]
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{p.Namespace, p.Name, p.Spec.NodeName, string(p.Status.Phase),
			o.now.Sub(p.CreationTimestamp.Time).Truncate(time.Second).String()}})
	}
	return printers.NewTablePrinter(printers.PrintOptions{}).PrintObj(table, o.streams.Out)
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

// delete goes on after a failure and tells all of them.
func (o *cleanupOptions) delete(ctx context.Context, pods []corev1.Pod) error {
	var failed []error
	for i := range pods {
		if err := launch.Remove(ctx, o.client, &pods[i]); err != nil {
			failed = append(failed, err)
			continue
		}
		fmt.Fprintf(o.streams.ErrOut, "pod %s/%s deleted\n", pods[i].Namespace, pods[i].Name)
	}
	return errors.Join(failed...)
}
