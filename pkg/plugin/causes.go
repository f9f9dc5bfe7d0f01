package plugin

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
)

// newCauses is the verb that lists the catalog.
func newCauses(v verb) *cobra.Command {
	var output, layer string
	cmd := &cobra.Command{
		Use: "causes", Short: "List the causes that can be recognised",
		Example: "  kubectl mountdoctor causes --layer device",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			if !slices.Contains([]string{"", "wide", "name"}, output) {
				return usagef("unknown output format %q, want wide or name", output)
			}
			return printCauses(v, output, layer)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "Output format: wide or name.")
	cmd.Flags().StringVar(&layer, "layer", "", "Only causes of this layer: claim, attach, longhorn, mount, device, transport, filesystem or risk.")
	return cmd
}

func printCauses(v verb, output, layer string) error {
	table := &metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string"}, {Name: "Layer", Type: "string"}, {Name: "Severity", Type: "string"},
		{Name: "Explains", Type: "string", Priority: 1}, {Name: "Leads to", Type: "string", Priority: 1},
	}}
	found := false
	for _, name := range causeNames() {
		r := causes.Catalog().Rule(name)
		if layer != "" && string(r.Layer) != layer {
			continue
		}
		found = true
		if output == "name" {
			if _, err := v.streams.Out.Write([]byte(name + "\n")); err != nil {
				return err
			}
			continue
		}
		table.Rows = append(table.Rows, causeRow(r))
	}
	if !found && layer != "" {
		return usagef("no cause of layer %q", layer)
	}
	if output == "name" {
		return nil
	}
	return printers.NewTablePrinter(printers.PrintOptions{Wide: output == "wide"}).PrintObj(runtime.Object(table), v.streams.Out)
}

func causeRow(r *diagnosis.Rule) metav1.TableRow {
	return metav1.TableRow{Cells: []any{r.Name, string(r.Layer), string(r.Severity), strings.Join(r.Explains, ","), strings.Join(r.LeadsTo, ",")}}
}
