// Casetool runs cases of the corpus and prints what is wrong with each.
//
//	go run ./internal/casetool                  every case, one line each, then counts
//	go run ./internal/casetool NAME…            the text report and the differences
//	go run ./internal/casetool -cause NAME      the cases that want this cause
//	go run ./internal/casetool -root DIR        the cases of another directory (testdata/pending)
//	go run ./internal/casetool -screen NAME…    the reports as on a terminal of 80 columns
//	go run ./internal/casetool -shape           how long the reports are, and what is wrong with them on sight
//	go run ./internal/casetool -shorten DIR     write the snapshot of a case again as a capture would
//	go run ./internal/casetool -many N NAME…    how the time of a sweep grows with N and 4 N of the same incident
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/render"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("casetool", flag.ContinueOnError)
	cause := flags.String("cause", "", "only cases that want this cause")
	other := flags.String("root", "", "directory of cases; default testdata/cases")
	brief := flags.Bool("brief", false, "no text reports")
	shape := flags.Bool("shape", false, "only the figures of the text reports")
	screen := flags.Bool("screen", false, "only the text reports, as on a terminal of 80 columns")
	notes := flags.Bool("notes", false, "print notes (weaker, richer) in the summary, too")
	shorten := flags.String("shorten", "", "load the snapshot in this `DIR` and write it again with what a capture keeps")
	many := flags.Int("many", 0, "only how the time of a sweep grows from `N` of the same incident to four times as many")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *shorten != "" {
		return rewrite(*shorten, out)
	}
	root, err := corpus.Root()
	if err != nil {
		return err
	}
	if *other != "" {
		root = *other
	}
	all, err := corpus.Names(root)
	if err != nil {
		return err
	}
	asked := selectCases(all, flags.Args())
	if *many > 0 {
		return growth(root, asked, *many, out)
	}
	results := judge(out, root, asked, *cause)
	if *shape {
		return printShape(out, results)
	}
	if *screen {
		return printScreens(out, results)
	}
	printAll(out, results, !*brief && (flags.NArg() > 0 || *cause != ""), *notes)
	summarise(out, results, len(asked))
	return nil
}

// printAll prints the outcome of each case, below its report if that is wanted.
func printAll(out io.Writer, results []*corpus.Result, full, notes bool) {
	for _, r := range results {
		if full {
			fmt.Fprintf(out, "═══ %s: %v\n%s", r.Name, r.Ask, r.Text)
		}
		printOutcome(out, r, notes || full)
	}
}

// judge runs the cases that want a cause, or all.
func judge(out io.Writer, root string, names []string, cause string) []*corpus.Result {
	var results []*corpus.Result
	for _, name := range names {
		r, err := corpus.Run(filepath.Join(root, name), causes.Catalog())
		if err != nil {
			fmt.Fprintf(out, "ERROR %s: %v\n", name, err)
			continue
		}
		if cause == "" || wants(r, cause) {
			results = append(results, r)
		}
	}
	return results
}

func printScreens(out io.Writer, results []*corpus.Result) error {
	for _, r := range results {
		fmt.Fprintf(out, "═══ %s: %v\n", r.Name, r.Ask)
		if err := render.Text(out, r.Report, render.Options{Width: corpus.ShapeWidth}); err != nil {
			return fmt.Errorf("print %s: %w", r.Name, err)
		}
	}
	return nil
}

func printShape(out io.Writer, results []*corpus.Result) error {
	var s corpus.Shape
	for _, r := range results {
		if err := s.Add(r.Name, r.Report); err != nil {
			return err
		}
	}
	fmt.Fprint(out, s.String())
	for _, f := range s.Flaws {
		fmt.Fprintln(out, "  ", f)
	}
	return nil
}

// selectCases takes names, or parts of names; none means all.
func selectCases(all, asked []string) []string {
	if len(asked) == 0 {
		return all
	}
	var out []string
	for _, n := range all {
		for _, a := range asked {
			if n == a || !slices.Contains(all, a) && strings.Contains(n, a) {
				out = append(out, n)
				break
			}
		}
	}
	return out
}

func wants(r *corpus.Result, cause string) bool {
	for _, k := range r.Want.RootCauses {
		if k.Name == cause {
			return true
		}
	}
	return false
}

func printOutcome(out io.Writer, r *corpus.Result, notes bool) {
	word := "ok  "
	switch {
	case len(r.Failures) > 0:
		word = "FAIL"
	case r.Unimplemented != "":
		word = "none"
	}
	fmt.Fprintf(out, "%s %s [%s]\n", word, r.Name, first(r))
	for _, f := range r.Failures {
		fmt.Fprintf(out, "     - %s\n", f)
	}
	if !notes {
		return
	}
	for _, n := range r.Notes {
		fmt.Fprintf(out, "     · %s\n", n)
	}
}

func first(r *corpus.Result) string {
	if len(r.Want.RootCauses) == 0 {
		return "no cause"
	}
	return r.Want.RootCauses[0].Name
}

func summarise(out io.Writer, results []*corpus.Result, asked int) {
	ok, fail, weak := map[string]int{}, map[string]int{}, 0
	none := map[string]int{}
	for _, r := range results {
		switch k := first(r); {
		case len(r.Failures) > 0:
			fail[k]++
		case r.Unimplemented != "":
			none[k]++
		default:
			ok[k]++
		}
		for _, n := range r.Notes {
			if strings.HasPrefix(n, "weaker:") {
				weak++
			}
		}
	}
	fmt.Fprintf(out, "\n%d cases: %d ok, %d failing, %d whose cause is not implemented; %d causes weaker than the evidence allows\n",
		len(results), total(ok), total(fail), total(none), weak)
	if asked < 20 {
		return
	}
	fmt.Fprintf(out, "failing by wanted cause: %s\nnot implemented: %s\n", list(fail), list(none))
}

func total(m map[string]int) int {
	n := 0
	for _, v := range m {
		n += v
	}
	return n
}

func list(m map[string]int) string {
	var out []string
	for k, v := range m {
		out = append(out, fmt.Sprintf("%s %d", k, v))
	}
	sort.Strings(out)
	return strings.Join(out, ", ")
}
