package plugin

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// show prints every file of a capture and why it is there.
func (o *captureOptions) show(s *snapshot.Snapshot) error {
	files, err := snapshot.List(s)
	if err != nil {
		return err
	}
	for _, f := range files {
		indent := ""
		if f.Entry {
			indent = "  "
		}
		fmt.Fprintf(o.streams.Out, "%s%s  %d B  %s\n", indent, printable(f.Name), f.Size, printable(f.Why))
	}
	return nil
}

// report says on stderr how to read the capture, and in five lines what is in it.
func (o *captureOptions) report(s *snapshot.Snapshot) error {
	files, err := snapshot.List(s)
	if err != nil {
		return err
	}
	command := []string{"kubectl", "mountdoctor", o.question.Kind}
	if o.question.Name != "" {
		command = append(command, o.question.Name)
	}
	if o.namespaced {
		command = append(command, "-n", o.question.Namespace)
	}
	fmt.Fprintf(o.streams.ErrOut, "Read it with: %s\n%s\n", report.Inline(append(command, "--from", o.path)...), strings.Join(o.contents(s, files), "\n"))
	return nil
}

// contents are the five lines.
func (o *captureOptions) contents(s *snapshot.Snapshot, files []snapshot.Listed) []string {
	size := 0
	for _, f := range files {
		if !f.Entry {
			size += f.Size
		}
	}
	missing := len(s.Gaps)
	for _, n := range s.Nodes {
		if n.Recording == nil {
			missing++
		}
	}
	logs := "not those of your own containers (--with-app-logs reads them)"
	if o.probe.appLogs || o.from != "" {
		logs = "those of your own containers, where they are there, by their lines about I/O"
	}
	names := "Names and addresses are those of the cluster: --redact replaces them for strangers"
	if o.redact {
		names = "Names, addresses and every word that no rule knows are replaced"
	}
	return []string{
		fmt.Sprintf("%s holds %s, %s and %s in %d kB; %s could not be read.", o.path, count(s.Objects(), "object"),
			count(recorded(s), "node"), count(len(s.Logs), "log"), (size+1023)/1024, count(missing, "thing")),
		"Of objects: the fields that rules read. No Secrets, no data of ConfigMaps, no environment variables, no arguments of programs that are no storage.",
		"Of nodes: mount tables, disks, sessions, processes, and of configuration, kernel log and text logs the lines that rules read.",
		"Of container logs: lines about storage of drivers, servers and Longhorn; " + logs + ".",
		names + "; values behind token, key, secret, password and in URLs are hidden. --list shows each file and why it is there.",
	}
}

// recorded is how many nodes a capture can hold.
func recorded(s *snapshot.Snapshot) int {
	n := 0
	for _, r := range s.Nodes {
		if r.Recording != nil {
			n++
		}
	}
	return n
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
