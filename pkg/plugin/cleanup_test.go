package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/launch"
)

// TestCleanup: only pods of ours whose run is over are deleted, and only after a yes.
func TestCleanup(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	pod := func(suffix string, age time.Duration) *corev1.Pod {
		p := launch.PodSpec(launch.PodRequest{Node: "worker-1", Namespace: "longhorn-system", Image: "i", Run: "r",
			Suffix: suffix, Lifetime: time.Minute, Now: now.Add(-age)})
		p.CreationTimestamp = metav1.NewTime(now.Add(-age))
		return p
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
			o := cleanupOptions{yes: test.yes, all: test.all, client: client, namespaces: []string{""}, now: now, patience: time.Second,
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

// TestCleanupTells: what still runs is said, whatever was deleted or not seen.
func TestCleanupTells(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	pod := func(suffix string, age time.Duration) *corev1.Pod {
		p := launch.PodSpec(launch.PodRequest{Node: "worker-1", Namespace: "longhorn-system", Image: "i", Run: "r",
			Suffix: suffix, Lifetime: time.Minute, Now: now.Add(-age)})
		p.CreationTimestamp = metav1.NewTime(now.Add(-age))
		return p
	}
	forbidden := func(what string) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New(what))
	}
	for _, test := range []struct {
		name    string
		pods    []runtime.Object
		react   func(a clienttesting.Action) (bool, runtime.Object, error)
		says    []string // of the output or the error
		silent  string   // what would be a lie
		failing bool
	}{
		{name: "a run that may go on", pods: []runtime.Object{pod("new", 0)},
			says:   []string{"mountdoctor-probe-new", "may go on, until 10:01:00 UTC", "1 probe pod is of a run that may still go on", "No probe pod of a run that is over"},
			silent: "No probe pods are left behind"},
		{name: "nothing", says: []string{"No probe pods are left behind.\n"}},
		{name: "a node that does not answer", pods: []runtime.Object{pod("old", time.Hour)},
			react: func(a clienttesting.Action) (bool, runtime.Object, error) {
				return a.Matches("delete", "pods"), nil, nil
			},
			says: []string{"was deleted and is still there: node worker-1 has not reported its end, so it may still run"}, silent: "old deleted", failing: true},
		{name: "namespaces that may not be searched",
			react: func(a clienttesting.Action) (bool, runtime.Object, error) {
				return a.GetNamespace() != "kube-system", nil, forbidden("no")
			},
			says:   []string{"every other namespace and namespace longhorn-system could not be searched"},
			silent: "left behind.\n"},
		{name: "no namespace may be searched", failing: true, says: []string{"longhorn-system", "kube-system"}, silent: "left behind",
			react: func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, forbidden("no") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			client := fake.NewClientset(test.pods...)
			if test.react != nil {
				client.PrependReactor("*", "pods", test.react)
			}
			var out bytes.Buffer
			o := cleanupOptions{yes: true, client: client, namespaces: []string{""}, now: now, patience: 50 * time.Millisecond,
				verb: verb{streams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}}}
			err := o.Run(context.Background())
			if (err != nil) != test.failing {
				t.Errorf("error %v, want one: %v", err, test.failing)
			}
			text := out.String() + fmt.Sprint(err)
			for _, s := range test.says {
				if !strings.Contains(text, s) {
					t.Errorf("it does not say %q:\n%s", s, text)
				}
			}
			if test.silent != "" && strings.Contains(text, test.silent) {
				t.Errorf("it says %q:\n%s", test.silent, text)
			}
		})
	}
}
