package plugin

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/launch"
)

// TestCleanup: only pods of ours whose run is over are deleted, and only after a yes.
func TestCleanup(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	pod := func(suffix string, age time.Duration) *corev1.Pod {
		return launch.PodSpec(launch.PodRequest{Node: "worker-1", Namespace: "longhorn-system", Image: "i", Run: "r",
			Suffix: suffix, Lifetime: time.Minute, Now: now.Add(-age)})
	}
	const old, fresh, copied, other = "mountdoctor-probe-old", "mountdoctor-probe-new", "copied", "mountdoctor-probe-other"
	for _, test := range []struct {
		name     string
		yes, all bool
		in       string
		want     []string // what remains
		err      error
	}{
		{name: "yes", in: "yes\n", want: []string{copied, fresh, other}},
		{name: "no", in: "no\n", want: []string{copied, fresh, old, other}, err: errNotConfirmed},
		{name: "no answer", want: []string{copied, fresh, old, other}, err: errNotConfirmed},
		{name: "--yes", yes: true, want: []string{copied, fresh, other}},
		{name: "--all", yes: true, all: true, want: []string{copied, other}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			stranger, foreign := pod("x", time.Hour), pod("other", time.Hour)
			stranger.Name = copied
			foreign.Labels["app.kubernetes.io/managed-by"] = "Helm"
			client := fake.NewClientset(pod("old", time.Hour), pod("new", 0), stranger, foreign)
			var out, errOut bytes.Buffer
			o := cleanupOptions{yes: test.yes, all: test.all, client: client, namespaces: []string{""}, now: now,
				verb: verb{streams: genericiooptions.IOStreams{In: strings.NewReader(test.in), Out: &out, ErrOut: &errOut}}}
			if err := o.Run(context.Background()); !errors.Is(err, test.err) {
				t.Errorf("error %v, want %v", err, test.err)
			}
			list, err := client.CoreV1().Pods("").List(context.Background(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range list.Items {
				got = append(got, p.Name)
			}
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("remaining %v, want %v\n%s%s", got, test.want, out.String(), errOut.String())
			}
			if !strings.Contains(out.String(), old) || strings.Contains(out.String(), copied) {
				t.Errorf("list:\n%s", out.String())
			}
		})
	}
}
