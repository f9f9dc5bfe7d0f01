package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/test/e2e/internal/lab"
)

// between two questions.
const between = 3 * time.Second

// asked is one question and what it cost.
type asked struct {
	kind, verdict string
	took          time.Duration
	memory        int64 // KiB
}

// questions asks about random objects, with probes.
func (s *soak) questions(t *testing.T) {
	for ; !s.over(); time.Sleep(between) {
		kind, args := s.question()
		a := ask(t, args...)
		s.asked = append(s.asked, asked{kind, a.Verdict, a.took, a.memory})
		switch kind {
		case "node", "cluster": // the faults may be named there
			s.blames(t, args, a)
		default:
			if a.Verdict != "healthy" && a.Verdict != "waiting" {
				t.Errorf("%s is %s, and has no fault; %s", strings.Join(args, " "), a.Verdict, a.short())
			}
		}
	}
}

func (s *soak) question() (kind string, args []string) {
	i := rand.IntN(len(s.claims))
	c := s.claims[i]
	switch n := rand.IntN(20); {
	case n < 12:
		return "pvc", []string{"pvc", c.claim, "-n", c.ns}
	case n < 15:
		return "volume", []string{"volume", s.volumes[i]}
	case n < 18:
		return "node", []string{"node", lab.Nodes[rand.IntN(len(lab.Nodes))].Name}
	}
	return "cluster", []string{"cluster"}
}

// blames asserts that nothing of the crowd is named by what a sweep finds wrong.
func (s *soak) blames(t *testing.T, args []string, a answer) {
	t.Helper()
	for _, c := range a.RootCauses {
		s.names(t, args, a, c.Name, c.Subject.String()+" "+c.Message)
	}
	for _, n := range a.Unexplained {
		s.names(t, args, a, n.Name, n.Message)
	}
}

func (s *soak) names(t *testing.T, args []string, a answer, what, text string) {
	t.Helper()
	if strings.Contains(text, "crowd-") || slices.ContainsFunc(s.volumes, func(v string) bool { return strings.Contains(text, v) }) {
		t.Errorf("%s blames what has no fault: %s: %s; %s", strings.Join(args, " "), what, text, a.short())
	}
}

// watch keeps one tool running and asserts that neither its memory nor its descriptors
// grow. It is measured when it has asked for a while, and at the end.
func (s *soak) watch(t *testing.T) {
	c := s.claims[0]
	cmd := exec.Command("kubectl", "mountdoctor", "pvc", c.claim, "-n", c.ns, "--watch", "-o", "brief")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	time.Sleep(s.lasts / 5)
	memory, files := sizeOf(t, cmd.Process.Pid)
	time.Sleep(time.Until(s.until))
	endMemory, endFiles := sizeOf(t, cmd.Process.Pid)
	fmt.Printf("SOAK --watch: %d MiB and %d descriptors after %s, %d MiB and %d after %s\n",
		memory>>10, files, (s.lasts / 5).Round(time.Second), endMemory>>10, endFiles, s.lasts)
	if endMemory > memory*3/2 || endFiles > files+8 {
		t.Errorf("--watch grows: from %d KiB and %d descriptors to %d KiB and %d", memory, files, endMemory, endFiles)
	}
}

// sizeOf are the resident memory in KiB and the open descriptors of a process.
func sizeOf(t *testing.T, pid int) (memory int64, files int) {
	t.Helper()
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	status, err := os.ReadFile(filepath.Join(proc, "status"))
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(status)) {
		if f := strings.Fields(l); len(f) > 1 && f[0] == "VmRSS:" {
			memory, _ = strconv.ParseInt(f[1], 10, 64)
		}
	}
	open, err := os.ReadDir(filepath.Join(proc, "fd"))
	if err != nil || memory == 0 {
		t.Fatalf("process %d: %d KiB, %v", pid, memory, err)
	}
	return memory, len(open)
}

// report prints what the questions cost: at first and at last.
func (s *soak) report() {
	verdicts := map[string]int{}
	for _, a := range s.asked {
		verdicts[a.kind+" "+a.verdict]++
	}
	third := len(s.asked) / 3
	fmt.Printf("SOAK %d volumes, %s: %d questions %v; first third %s, last third %s\n", len(s.claims), s.lasts,
		len(s.asked), verdicts, cost(s.asked[:third]), cost(s.asked[len(s.asked)-third:]))
}

func cost(all []asked) string {
	if len(all) == 0 {
		return "none"
	}
	var took []time.Duration
	var most int64
	for _, a := range all {
		took = append(took, a.took)
		most = max(most, a.memory)
	}
	slices.Sort(took)
	return fmt.Sprintf("median %s, p95 %s, at most %d MiB", took[len(took)/2], took[len(took)*95/100], most>>10)
}
