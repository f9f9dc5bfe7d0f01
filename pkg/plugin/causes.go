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
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/render"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// newCauses is the verb that lists the catalog.
func newCauses(v verb) *cobra.Command {
	var output, layer string
	cmd := &cobra.Command{
		Use: "causes", Short: "List the causes that can be recognised",
		Example: "  kubectl mountdoctor causes --layer device",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			if !slices.Contains([]string{"", "wide", "name", "json", "yaml"}, output) {
				return usagef("unknown output format %q, want wide, name, json or yaml", output)
			}
			return printCauses(v, output, layer)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "Output format: wide, name, json or yaml.")
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
	if output == "json" || output == "yaml" {
		return render.Data(v.streams.Out, catalogOf(layer), output)
	}
	if output == "name" {
		return nil
	}
	return printers.NewTablePrinter(printers.PrintOptions{Wide: output == "wide"}).PrintObj(runtime.Object(table), v.streams.Out)
}

func causeRow(r *diagnosis.Rule) metav1.TableRow {
	return metav1.TableRow{Cells: []any{r.Name, string(r.Layer), string(r.Severity), strings.Join(r.Explains, ","), strings.Join(r.LeadsTo, ",")}}
}

// catalog is what can be recognised, for programs.
type catalog struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Causes     []catalogEntry `json:"causes"`
}

type catalogEntry struct {
	Name     string   `json:"name"`
	Layer    string   `json:"layer"`
	Severity string   `json:"severity"`
	Means    string   `json:"means"` // the first paragraph of its document
	Explains []string `json:"explains"`
	LeadsTo  []string `json:"leadsTo"`
	YieldsTo []string `json:"yieldsTo"`
	Offers   []string `json:"offers"` // steps above read-only that it may advise
}

func catalogOf(layer string) catalog {
	out := catalog{APIVersion: report.APIVersion, Kind: "Catalog", Causes: []catalogEntry{}}
	list := func(s []string) []string { return append([]string{}, s...) }
	for _, name := range causeNames() {
		r := causes.Catalog().Rule(name)
		if layer != "" && string(r.Layer) != layer {
			continue
		}
		out.Causes = append(out.Causes, catalogEntry{
			Name: r.Name, Layer: string(r.Layer), Severity: string(r.Severity), Means: means(r.Doc), Explains: list(r.Explains),
			LeadsTo: list(r.LeadsTo), YieldsTo: list(r.YieldsTo), Offers: list(r.Offers),
		})
	}
	return out
}

// means is the first paragraph below "## Means", on one line.
func means(doc string) string {
	_, rest, _ := strings.Cut(doc, "## Means")
	first, _, _ := strings.Cut(strings.TrimSpace(rest), "\n\n")
	return strings.Join(strings.Fields(first), " ")
}
