package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// vars fill the $NAMES of a manifest.
type vars map[string]string

// with is a copy with more in it.
func (v vars) with(more vars) vars {
	out := vars{}
	for _, m := range []vars{v, more} {
		for k, val := range m {
			out[k] = val
		}
	}
	return out
}

// kubectl runs the lab's kubectl as the administrator; the test ends if it fails.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := cluster.Kubectl(args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// apply creates the objects of a manifest, for each of the variables.
func apply(t *testing.T, file string, v ...vars) {
	t.Helper()
	if out, err := submit("apply", file, v); err != nil {
		t.Fatalf("apply %s: %v: %s", file, err, out)
	}
}

func submit(verb, file string, all []vars, more ...string) (string, error) {
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		return "", err
	}
	var objects []string
	for _, v := range all {
		objects = append(objects, os.Expand(string(text), func(name string) string { return v[name] }))
	}
	cmd := exec.Command("kubectl", append([]string{verb, "-f", "-"}, more...)...)
	cmd.Stdin = strings.NewReader(strings.Join(objects, "\n---\n"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// eventually asks until it is so.
func eventually(t *testing.T, limit time.Duration, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		if so() {
			return
		}
	}
	t.Fatalf("waited %s in vain until %s", limit, what)
}

// field is one value of one object, empty when there is none.
func field(path string, object ...string) string {
	out, err := cluster.Kubectl(append([]string{"get", "-o", "jsonpath=" + path}, object...)...)
	if err != nil {
		return ""
	}
	return out
}

func waitRunning(t *testing.T, ns, pod string) {
	t.Helper()
	eventually(t, 90*time.Second, "pod "+ns+"/"+pod+" is ready", func() bool {
		return field(`{.status.containerStatuses[0].ready}`, "-n", ns, "pod", pod) == "true"
	})
}

// waitEvent waits for a warning about the pod that says these words.
func waitEvent(t *testing.T, ns, object, words string) {
	t.Helper()
	eventually(t, 90*time.Second, "an event of "+ns+"/"+object+" says "+words, func() bool {
		return strings.Contains(field(`{range .items[*]}{.message}{"\n"}{end}`, "-n", ns, "events",
			"--field-selector", "involvedObject.name="+object), words)
	})
}

// namespace makes one for this test, deleted with everything in it afterwards.
func namespace(t *testing.T, name string) {
	t.Helper()
	kubectl(t, "create", "namespace", name)
	eventually(t, 20*time.Second, "namespace "+name+" has its account", func() bool {
		return field("{.metadata.name}", "-n", name, "serviceaccount", "default") != ""
	})
	t.Cleanup(func() {
		// Pods first: the namespace controller looks again only after many seconds.
		for _, args := range [][]string{
			{"-n", name, "delete", "deployments,pods", "--all", "--timeout=90s"},
			{"-n", name, "wait", "pods", "--all", "--for=delete", "--timeout=90s"},
			{"delete", "namespace", name, "--timeout=90s"},
		} {
			if _, err := cluster.Kubectl(args...); err != nil && args[2] != "wait" {
				t.Error(err)
			}
		}
	})
}

// on runs a script on a node, as its root.
func on(t *testing.T, node, script string) string {
	t.Helper()
	out, err := cluster.Shell(node, script)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// describe prints what helps to understand a failure.
func describe(t *testing.T) {
	var out bytes.Buffer
	for _, args := range [][]string{
		{"get", "nodes"}, {"get", "pods", "-A", "-o", "wide"}, {"get", "volumeattachments.storage.k8s.io"},
		{"get", "events", "-A", "--sort-by=.lastTimestamp"},
	} {
		text, err := cluster.Kubectl(args...)
		if err != nil {
			text = err.Error()
		}
		lines := strings.SplitAfter(text, "\n")
		out.WriteString("$ kubectl " + strings.Join(args, " ") + "\n" + strings.Join(lines[max(0, len(lines)-25):], ""))
	}
	t.Log(out.String())
}
