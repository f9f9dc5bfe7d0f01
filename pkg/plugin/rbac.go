package plugin

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/mountdoctor/kubectl-mountdoctor/deploy/rbac"
)

// rbacOptions ask which of the needed rights the caller has.
type rbacOptions struct {
	verb
	probe     bool
	namespace string // of the probe pods
	output    string
}

// newRBAC is the verb that says which rights are needed and which are missing.
func newRBAC(v verb) *cobra.Command {
	o := &rbacOptions{verb: v}
	cmd := &cobra.Command{
		Use: "rbac", Short: "Say which rights a diagnosis needs and which of them you have",
		Long: `Print every right that a diagnosis needs and ask the API server whether you have
it. Missing rights are no error of a diagnosis: what cannot be read is reported as
not checked. A preflight needs those with --probe. The roles to ask for are printed
with -o yaml, without a cluster, too.

Exit code 0: you have all; 3: some are missing.`,
		Example: `  # what do I miss
  kubectl mountdoctor rbac

  # the same with the rights that looking at nodes needs
  kubectl mountdoctor rbac --probe

  # the roles, for who may grant them
  kubectl mountdoctor rbac --probe -o yaml`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.output != "" && o.output != "yaml" {
				return usagef("unknown output format %q, want yaml", o.output)
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.probe, "probe", false, "Also the rights that looking at nodes needs.")
	cmd.Flags().StringVar(&o.namespace, "probe-namespace", "longhorn-system", "Namespace of the probe pods.")
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "Output format: yaml prints the roles.")
	return cmd
}

// role is one of the roles of deploy/rbac.
type role struct {
	file      []byte
	namespace string // empty: everywhere, or in the namespace of -n
	object    rbacv1.ClusterRole
}

func (o *rbacOptions) roles() ([]role, error) {
	out := []role{{file: rbac.Read}, {file: rbac.Logs}}
	if o.config.Namespace != nil {
		out[0].namespace, out[1].namespace = *o.config.Namespace, *o.config.Namespace
	}
	if o.probe {
		out = append(out, role{file: rbac.Probe, namespace: o.namespace})
	}
	for i := range out {
		if err := yaml.Unmarshal(out[i].file, &out[i].object); err != nil {
			return nil, fmt.Errorf("read the built-in role: %w", err)
		}
	}
	return out, nil
}

func (o *rbacOptions) run(ctx context.Context) error {
	roles, err := o.roles()
	if err != nil {
		return err
	}
	if o.output == "yaml" {
		for _, r := range roles {
			text := strings.ReplaceAll(string(r.file), "namespace: longhorn-system", "namespace: "+o.namespace)
			if _, err := fmt.Fprint(o.streams.Out, "---\n"+text); err != nil {
				return fmt.Errorf("write roles: %w", err)
			}
		}
		return nil
	}
	if nowhere(o.config) {
		return noCluster()
	}
	config, err := o.config.ToRESTConfig()
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	config.QPS, config.Burst = 50, 100 // some fifty small questions
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	return o.compare(ctx, client, roles)
}

// compare asks for every right and prints a line for each resource.
func (o *rbacOptions) compare(ctx context.Context, client kubernetes.Interface, roles []role) error {
	table := &metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{
		{Name: "You have", Type: "string"}, {Name: "Verbs", Type: "string"}, {Name: "Resource", Type: "string"}, {Name: "Namespace", Type: "string"}, {Name: "Role", Type: "string"},
	}}
	missing := map[string]bool{}
	for _, r := range roles {
		for _, rule := range r.object.Rules {
			for _, resource := range rule.Resources {
				lacks, err := o.lacks(ctx, client, r.namespace, rule, resource)
				if err != nil {
					return err
				}
				have := "yes"
				if len(lacks) > 0 {
					have, missing[r.object.Name] = "not "+strings.Join(lacks, ", "), true
				}
				name := strings.TrimSuffix(resource+"."+rule.APIGroups[0], ".")
				table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{have, strings.Join(rule.Verbs, ","), name, in(r.namespace), r.object.Name}})
			}
		}
	}
	if err := printers.NewTablePrinter(printers.PrintOptions{}).PrintObj(table, o.streams.Out); err != nil {
		return fmt.Errorf("print rights: %w", err)
	}
	if len(missing) == 0 {
		fmt.Fprintln(o.streams.Out, "\nYou have all of them.")
		return nil
	}
	*o.code = ExitNotChecked
	_, err := fmt.Fprintln(o.streams.Out, "\nWithout the missing ones a diagnosis says what it could not check. The roles to ask for: kubectl mountdoctor rbac -o yaml"+map[bool]string{true: " --probe"}[o.probe])
	return err
}

func in(namespace string) string {
	if namespace == "" {
		return "all"
	}
	return namespace
}

// lacks are the verbs of a rule that the caller may not use.
func (o *rbacOptions) lacks(ctx context.Context, client kubernetes.Interface, namespace string, rule rbacv1.PolicyRule, resource string) ([]string, error) {
	var out []string
	for _, verb := range rule.Verbs {
		plain, sub, _ := strings.Cut(resource, "/")
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: verb, Group: rule.APIGroups[0], Resource: plain, Subresource: sub,
		}}}
		answer, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return nil, fmt.Errorf("ask whether you may %s %s: %w", verb, resource, err)
		}
		if !answer.Status.Allowed {
			out = append(out, verb)
		}
	}
	return out, nil
}
