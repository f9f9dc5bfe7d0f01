package longhorn

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var now = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func index(lh snapshot.Longhorn, gaps ...string) *snapshot.Index {
	s := &snapshot.Snapshot{TakenAt: now, Cluster: snapshot.Cluster{Longhorn: lh}}
	for _, g := range gaps {
		s.Gaps = append(s.Gaps, snapshot.Gap{Need: g, Reason: "Forbidden"})
	}
	return snapshot.NewIndex(s)
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "lh", Name: name} }

func volume(state string, parts ...*snapshot.LHReplica) *snapshot.Volume {
	lh := &snapshot.LHVolume{ObjectMeta: named("v")}
	lh.Status.State, lh.Status.CurrentNodeID = state, "n1"
	e := &snapshot.LHEngine{ObjectMeta: named("e"), Active: true, ReplicaModes: map[string]string{"good": "RW", "slow": "WO"}}
	return &snapshot.Volume{Longhorn: &snapshot.LonghornVolume{Volume: lh, Engines: []*snapshot.LHEngine{e}, Replicas: parts}}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	im := &snapshot.LHInstanceManager{ObjectMeta: named("im")}
	full := &snapshot.LHInstanceManager{ObjectMeta: named("im"), Engines: []snapshot.LHProcess{{Name: "e-0"}, {Name: "e-1"}}}
	alone := &snapshot.LHInstanceManager{ObjectMeta: named("im"), Engines: []snapshot.LHProcess{{Name: "e-0"}}}
	inside := snapshot.LHInstance{InstanceManager: "im", CurrentState: "running"}
	bad := &snapshot.LHReplica{ObjectMeta: named("bad"), FailedAt: "2026-01-01T00:00:00Z", HealthyAt: "2025-01-01T00:00:00Z"}
	fresh := &snapshot.LHReplica{ObjectMeta: named("fresh")}
	good := &snapshot.LHReplica{ObjectMeta: named("good"), HealthyAt: "2025-01-01T00:00:00Z"}
	away := &snapshot.LHReplica{ObjectMeta: named("away"), HealthyAt: "2025-01-01T00:00:00Z", LHInstance: snapshot.LHInstance{NodeID: "gone"}}
	slow := &snapshot.LHReplica{ObjectMeta: named("slow"), HealthyAt: "2025-01-01T00:00:00Z"}
	backup := func(at string) *snapshot.Volume {
		v := volume("detached")
		v.Longhorn.Volume.Status.LastBackup, v.Longhorn.Volume.Status.LastBackupAt = "b-1", at
		return v
	}
	on := func(node string) *snapshot.LHEngine {
		return &snapshot.LHEngine{ObjectMeta: named("e-2"), LHInstance: snapshot.LHInstance{NodeID: node}}
	}
	none := snapshot.Longhorn{}
	for name, tt := range map[string]struct {
		got  evidence.Answer
		want string
	}{
		"a manager without processes":            {Idle(index(none), im, ""), "yes"},
		"a manager with the named process alone": {Idle(index(none), alone, "e-0"), "yes"},
		"a manager with another one":             {Idle(index(none), full, "e-0"), "no"},
		"an Engine says that it runs there":      {Idle(index(snapshot.Longhorn{Engines: []*snapshot.LHEngine{{ObjectMeta: named("e-9"), LHInstance: inside}}}), im, ""), "no"},
		"a Replica says that it runs there":      {Idle(index(snapshot.Longhorn{Replicas: []*snapshot.LHReplica{{ObjectMeta: named("r-9"), LHInstance: inside}}}), im, ""), "no"},
		"a manager with a frontend alone":        {Idle(index(none), &snapshot.LHInstanceManager{ObjectMeta: named("im"), Frontends: []snapshot.LHProcess{{Name: "ef-0"}}}, ""), "no"},
		"a Replica of it that is unknown":        {Idle(index(snapshot.Longhorn{Replicas: []*snapshot.LHReplica{{ObjectMeta: named("r-9"), LHInstance: snapshot.LHInstance{InstanceManager: "im", CurrentState: "unknown"}}}}), im, ""), "no"},
		"a manager that is unknown":              {Idle(index(none), &snapshot.LHInstanceManager{ObjectMeta: named("im"), CurrentState: "unknown"}, ""), "unseen"},
		"a manager, replicas unread":             {Idle(index(none, "api/longhorn.io/replicas"), im, ""), "unseen"},
		"another replica is healthy":             {OtherReplica(index(none), volume("attached", bad, good), bad), "yes"},
		"the other one is not written to":        {OtherReplica(index(none), volume("attached", bad, slow), bad), "no"},
		"the other one's node is away":           {OtherReplica(index(none), volume("detached", bad, away), bad), "no"},
		"there is no other one":                  {OtherReplica(index(none), volume("detached", good), good), "no"},
		"another replica, engines unread":        {OtherReplica(index(none, "api/longhorn.io/engines"), volume("detached", bad, good), bad), "unseen"},
		"a failed replica":                       {Dispensable(index(none), bad), "yes"},
		"a replica that never was healthy":       {Dispensable(index(none), fresh), "yes"},
		"a healthy replica":                      {Dispensable(index(none), good), "no"},
		"the volume is elsewhere":                {OnAnotherNode(index(none), volume("attached"), on("n2")), "yes"},
		"the volume is here":                     {OnAnotherNode(index(none), volume("attached"), on("n1")), "no"},
		"the volume is elsewhere, unread":        {OnAnotherNode(index(none, "api/longhorn.io"), volume("attached"), on("n2")), "unseen"},
		"a backup of ten minutes":                {BackedUp(index(none), backup("2026-01-02T11:50:00Z")), "yes"},
		"a backup of yesterday":                  {BackedUp(index(none), backup("2026-01-01T11:50:00Z")), "no"},
		"a backup without a date":                {BackedUp(index(none), backup("")), "unseen"},
		"a standby that follows backups":         {Restores(&snapshot.LHVolume{Status: snapshot.LHVolumeStatus{IsStandby: true}}), "yes"},
		"no restore":                             {Restores(&snapshot.LHVolume{}), "no"},
		"no backup":                              {BackedUp(index(none), volume("detached")), "unseen"},
		"no Longhorn":                            {BackedUp(index(none), &snapshot.Volume{}), "unseen"},
	} {
		if got := tt.got.String(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

func TestEngineProcess(t *testing.T) {
	t.Parallel()
	im := &snapshot.LHInstanceManager{ObjectMeta: named("im"), NodeID: "n2"}
	p := EngineProcess{Manager: im, Name: "v-e-0", Volume: "v"}
	record := func(state string) *snapshot.LHEngine {
		return &snapshot.LHEngine{ObjectMeta: named("v-e-0"), LHInstance: snapshot.LHInstance{DesireState: state, CurrentState: state}}
	}
	with := func(e *snapshot.LHEngine, gaps ...string) *snapshot.Index {
		if e == nil {
			return index(snapshot.Longhorn{}, gaps...)
		}
		return index(snapshot.Longhorn{Engines: []*snapshot.LHEngine{e}}, gaps...)
	}
	moved := func(node string) *snapshot.Index {
		e := record("running")
		e.InstanceManager = "im-new"
		return index(snapshot.Longhorn{Engines: []*snapshot.LHEngine{e}, InstanceManagers: []*snapshot.LHInstanceManager{{ObjectMeta: named("im-new"), NodeID: node}}})
	}
	for name, c := range map[string]struct {
		x    *snapshot.Index
		v    *snapshot.Volume
		want string
	}{
		"stopped and detached":               {with(record("stopped")), volume("detached"), "yes"},
		"stopped and attached elsewhere":     {with(record("stopped")), volume("attached"), "yes"},
		"stopped and detaching":              {with(record("stopped")), volume("detaching"), "no"},
		"it is to run":                       {with(record("running")), volume("detached"), "no"},
		"no record, volume elsewhere":        {with(nil), volume("attached"), "yes"},
		"no record and no volume":            {with(nil), nil, "yes"},
		"records unread":                     {with(nil, "api/longhorn.io/engines"), nil, "unseen"},
		"it runs on another node":            {moved("n1"), volume("attached"), "yes"},
		"it runs in a newer one of the node": {moved("n2"), volume("attached"), "no"},
		"stopped, engines of others unread":  {with(record("stopped"), "api/longhorn.io/engines"), volume("detached"), "yes"},
	} {
		if _, a := p.Unwanted(c.x, c.v); a.String() != c.want {
			t.Errorf("%s: %s, want %s", name, a.String(), c.want)
		}
	}
}

func TestStops(t *testing.T) {
	t.Parallel()
	with := func(state, engine, endpoint string, replicas ...string) *snapshot.Volume {
		v := volume(state)
		v.Longhorn.Engines[0].LHInstance = snapshot.LHInstance{DesireState: "running", CurrentState: engine, NodeID: "n1"}
		v.Longhorn.Engines[0].Endpoint = endpoint
		for _, state := range replicas {
			v.Longhorn.Replicas = append(v.Longhorn.Replicas, &snapshot.LHReplica{ObjectMeta: named("r"), LHInstance: snapshot.LHInstance{NodeID: "n1", DesireState: "running", CurrentState: state}})
		}
		return v
	}
	for name, c := range map[string]struct {
		v    *snapshot.Volume
		want string
	}{
		"no replica runs":                 {with("attaching", "stopped", "", "stopped", "starting"), "at the replicas"},
		"one of them runs, no engine":     {with("attaching", "error", "", "running", "starting"), "at the engine"},
		"the engine gives no device":      {with("attaching", "running", "", "running"), "at the block device"},
		"it is attached":                  {with("attached", "running", "/dev/longhorn/v", "running"), ""},
		"nobody asked for it":             {with("detached", "stopped", "", "stopped"), ""},
		"replicas without a place differ": {with("attaching", "stopped", ""), "at the engine"},
	} {
		says, _ := Stops(index(snapshot.Longhorn{}), c.v)
		if c.want == "" && says != "" || !strings.Contains(says, c.want) {
			t.Errorf("%s: got %q, want %q", name, says, c.want)
		}
	}
	for state, want := range map[string]string{"running": "at the engine", "starting": "instance-manager-a on node n1 is starting"} {
		im := &snapshot.LHInstanceManager{ObjectMeta: named("instance-manager-a"), NodeID: "n1", CurrentState: state}
		if says, _ := Stops(index(snapshot.Longhorn{InstanceManagers: []*snapshot.LHInstanceManager{im}}), with("attaching", "stopped", "", "running")); !strings.Contains(says, want) {
			t.Errorf("instance-manager %s: got %q, want %q", state, says, want)
		}
	}
}

// TestSettings reads values that Longhorn writes for each data engine since 1.10.
func TestSettings(t *testing.T) {
	t.Parallel()
	with := func(name, value string) *snapshot.Index {
		return index(snapshot.Longhorn{Settings: []*snapshot.LHSetting{{ObjectMeta: named(name), Value: value}}})
	}
	for value, want := range map[string]string{" 25": "25 true", `{"v1":"25","v2":"30"}`: "25 true", `{"v2":"30"}`: "<nil> false", `{"v1":`: " false"} {
		got, known := settingFor(with("storage-minimal-available-percentage", value), "storage-minimal-available-percentage", "")
		if fmt.Sprint(got, " ", known) != want {
			t.Errorf("%s: got %q, %v", value, got, known)
		}
	}
	for _, tt := range []struct{ setting, value, want string }{
		{"other", "1", "2048 the default"}, {"v2-data-engine-hugepage-limit", "4096", "4096 setting v2-data-engine-hugepage-limit"},
		{"data-engine-memory-size", `{"v2":"1024"}`, "1024 setting data-engine-memory-size"}, {"data-engine-memory-size", `{"v2":"many"}`, "2048 the default"},
		{"data-engine-hugepage-enabled", `{"v2":"true"}`, "2048 the default"}, {"data-engine-hugepage-enabled", `{"v2":"false"}`, "0 setting data-engine-hugepage-enabled"},
	} {
		if n, from := V2Memory(with(tt.setting, tt.value)); fmt.Sprint(n, " ", from) != tt.want {
			t.Errorf("%s %s: %d %s, want %s", tt.setting, tt.value, n, from, tt.want)
		}
	}
	for value, want := range map[string]int{"v1.5.4": 10504, "v1.10.0-rc1": 11000, "v1.8": 0, "master-head.x.y": 0, "": 0} {
		if got, known := Version(with("current-longhorn-version", value)); got != want || known != (want > 0) {
			t.Errorf("%q: got %d, %v", value, got, known)
		}
	}
}
