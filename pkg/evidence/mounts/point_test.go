package mounts

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func index(change func(*probes.Facts)) *snapshot.Index {
	f := &probes.Facts{
		Identity:   probes.Identity{InitMntNS: 1},
		Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1, Mounts: []probes.Mount{{Dev: probes.Dev{Minor: 53}, Point: "/nfs"}}}},
		Processes:  []probes.Process{{PID: 1, MntNS: 1}},
		Block:      []probes.BlockDevice{{Name: "sda", Dev: probes.Dev{Major: 8}, State: "running"}, {Name: "sdb", Dev: probes.Dev{Major: 8, Minor: 16}, State: "offline"}},
		Statfs:     map[string]probes.FSStat{},
	}
	if change != nil {
		change(f)
	}
	return snapshot.NewIndex(&snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"n": {Facts: f}}})
}

func hole(f *probes.Facts) { f.Problems = []probes.Problem{{Table: probes.Block, Text: "EACCES"}} }

func says(errno string) func(*probes.Facts) {
	return func(f *probes.Facts) { f.Statfs["/m"] = probes.FSStat{Err: errno} }
}

func TestDead(t *testing.T) {
	t.Parallel()
	at := func(major, minor uint32) probes.Mount {
		return probes.Mount{Dev: probes.Dev{Major: major, Minor: minor}, Point: "/m", Raw: "line"}
	}
	for name, tt := range map[string]struct {
		mount  probes.Mount
		change func(*probes.Facts)
		want   string
	}{
		"the disk is gone":                     {at(8, 99), nil, "yes"},
		"the disk is not listed, and not read": {at(8, 99), hole, "unseen"},
		"the disk is offline":                  {at(8, 16), nil, "yes"},
		"the disk runs":                        {at(8, 0), nil, "no"},
		"the disk is gone and it answers":      {at(8, 99), says(""), "no"},
		"the disk runs and it answers EIO":     {at(8, 0), says("EIO"), "yes"},
		"a stale handle":                       {at(0, 53), says("ESTALE"), "yes"},
		"a server that hangs may come back":    {at(0, 53), says("hang"), "unseen"},
		"a share that nobody asked":            {at(0, 53), nil, "unseen"},
	} {
		if got := Dead(index(tt.change), "n", tt.mount).String(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	if got := Dead(index(nil), "other", at(8, 99)).String(); got != "unseen" {
		t.Errorf("a node that was not probed: %s", got)
	}
}

func TestNothingBelow(t *testing.T) {
	t.Parallel()
	other := func(point string) func(*probes.Facts) {
		return func(f *probes.Facts) {
			f.Namespaces = append(f.Namespaces, probes.MountNamespace{ID: 2, PIDs: []int{7}, TablePID: 7, Mounts: []probes.Mount{{Point: point, Raw: "line"}}})
		}
	}
	for name, tt := range map[string]struct {
		change func(*probes.Facts)
		want   string
	}{
		"nothing":                        {nil, "yes"},
		"the directory itself":           {other("/pods/1"), "no"},
		"below it":                       {other("/pods/1/volumes/x"), "no"},
		"below it in another root":       {other("/host/pods/1/volumes/x"), "no"},
		"beside it":                      {other("/pods/11/volumes/x"), "yes"},
		"a table could not be read":      {func(f *probes.Facts) { f.Problems = []probes.Problem{{Table: probes.Mounts, Text: "EACCES"}} }, "unseen"},
		"a namespace without a table":    {func(f *probes.Facts) { f.NSRefs = []probes.NamespaceRef{{ID: 9}} }, "unseen"},
		"process 1 could not be read":    {func(f *probes.Facts) { f.Namespaces = nil }, "unseen"},
		"the probe was cut off half way": {func(f *probes.Facts) { f.Status = map[string]probes.ProbeState{"mountns": {State: "timeout"}} }, "unseen"},
	} {
		if got := NothingBelow(index(tt.change), "n", "/pods/1").String(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestBound: a root in the mount table is a path of its filesystem, not of the node.
func TestBound(t *testing.T) {
	t.Parallel()
	disk, other := probes.Dev{Major: 8, Minor: 2}, probes.Dev{Major: 8, Minor: 3}
	for name, tt := range map[string]struct {
		mounts []probes.Mount
		want   string
	}{
		"one disk":           {[]probes.Mount{{Dev: disk, Root: "/", Point: "/"}}, "/lib/kubelet/x"},
		"a disk for /var":    {[]probes.Mount{{Dev: other, Root: "/", Point: "/"}, {Dev: disk, Root: "/", Point: "/var"}}, "/var/lib/kubelet/x"},
		"a bound directory":  {[]probes.Mount{{Dev: disk, Root: "/", Point: "/data"}, {Dev: disk, Root: "/lib/kubelet", Point: "/var/lib/kubelet"}}, "/var/lib/kubelet/x"},
		"seen nowhere else":  {[]probes.Mount{{Dev: other, Root: "/", Point: "/"}}, "/lib/kubelet/x"},
		"bound once more":    {[]probes.Mount{{Dev: disk, Root: "/lib/kubelet/x", Point: "/pods/2"}, {Dev: disk, Root: "/", Point: "/var"}}, "/var/lib/kubelet/x"},
		"another's root too": {[]probes.Mount{{Dev: disk, Root: "/lib/kube", Point: "/k"}, {Dev: disk, Root: "/", Point: "/var"}}, "/var/lib/kubelet/x"},
	} {
		x := index(func(f *probes.Facts) { f.Namespaces[0].Mounts = tt.mounts })
		if got := Bound(x.View("n"), &probes.Mount{Dev: disk, Root: "/lib/kubelet/x", Point: "/pods/1"}); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
