package collect_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/testcluster"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/collect"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestAppLogs reads the log of the pod that uses a volume only when it is asked to.
func TestAppLogs(t *testing.T) {
	t.Parallel()
	server, err := testcluster.Start(filepath.Join("..", "..", "testdata", "cases", "rwx-owner-nobody-2357"))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	saved, err := snapshot.Load(filepath.Join("..", "..", "testdata", "cases", "rwx-owner-nobody-2357"))
	if err != nil {
		t.Fatal(err)
	}
	x := snapshot.NewIndex(saved)
	var volume *snapshot.Volume
	for _, v := range x.Volumes {
		if len(v.Consumers) > 0 && len(x.LogsOf(v.Consumers[0].Pod.Namespace, v.Consumers[0].Pod.Name)) > 0 {
			volume = v
		}
	}
	if volume == nil {
		t.Fatal("no user of a volume has a log in the case")
	}
	namespace, name := volume.ClaimRef()
	user := volume.Consumers[0].Pod.Name
	for _, wanted := range []bool{false, true} {
		s, err := collect.Collect(context.Background(), &rest.Config{Host: server.URL, QPS: -1},
			collect.Question{Kind: "pvc", Namespace: namespace, Name: name}, collect.Options{Now: saved.TakenAt, AppLogs: wanted})
		if err != nil {
			t.Fatal(err)
		}
		if read := slices.ContainsFunc(s.Logs, func(l snapshot.Log) bool { return l.Pod == user }); read != wanted {
			t.Errorf("asked for: %t, read: %t", wanted, read)
		}
	}
}
