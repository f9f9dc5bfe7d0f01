package longhorn

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// freshFor is how old an event or a line of a log or of the kernel may be that speaks of the present.
const freshFor = 10 * time.Minute

// Instance is an engine, the frontend of one, or a replica of a volume.
type Instance struct {
	Name string
	Kind string // engine | engineFrontend | replica
	*snapshot.LHInstance
}

func instances(v *snapshot.Volume) []Instance {
	var out []Instance
	if v.Longhorn == nil {
		return nil
	}
	for _, e := range v.Longhorn.Engines {
		out = append(out, Instance{e.Name, "engine", &e.LHInstance})
	}
	for _, f := range v.Longhorn.Frontends {
		out = append(out, Instance{f.Name, "engineFrontend", &f.LHInstance})
	}
	for _, r := range v.Longhorn.Replicas {
		out = append(out, Instance{r.Name, "replica", &r.LHInstance})
	}
	return out
}

// serves tells whether an instance-manager is of the type that an instance needs.
func (i Instance) serves(im *snapshot.LHInstanceManager) bool {
	return (im.Type == i.Kind || im.Type == "aio" || im.Type == "") && EngineKind(im.DataEngine) == EngineKind(i.DataEngine)
}

// PartNodes are the nodes with a part of a volume, present or wanted.
func PartNodes(x *snapshot.Index, v *snapshot.Volume) []string {
	parts := evidence.Each(instances(v), func(i Instance) string { return i.NodeID })
	return evidence.Names(slices.Concat(WantedNodes(v), parts, x.DeviceNodes(v))...)
}

// Away quotes that Longhorn has no such volume, or the instance-managers that do not run and in which something of a volume has to
// start: on a node where it is wanted, and for its replicas; with what is said of their pods.
func Away(x *snapshot.Index, v *snapshot.Volume, node string) []report.Evidence {
	lh := v.LH()
	if len(x.Cluster.Longhorn.InstanceManagers) == 0 || !v.IsLonghorn() {
		return nil
	}
	if lh == nil {
		return Read(x, "volumes").Nothing(evidence.FromAPI("Volume "+v.Handle, "", "not found")).Facts()
	}
	nodes := []string{node}
	for _, r := range v.Longhorn.Replicas {
		if r.CurrentState != "running" {
			nodes = append(nodes, r.NodeID)
		}
	}
	var out []report.Evidence
	for i, n := range nodes {
		if n == "" || slices.Contains(nodes[:i], n) || x.LHNode(n) == nil {
			continue
		}
		list := evidence.Keep(x.InstanceManagersOn(n), func(im *snapshot.LHInstanceManager) bool {
			return EngineKind(im.DataEngine) == EngineKind(lh.DataEngine)
		})
		if len(list) == 0 {
			out = append(out, evidence.FromAPI("Node.longhorn.io "+n, "", "no InstanceManager of data engine "+EngineKind(lh.DataEngine)))
		}
		for _, im := range list {
			if im.CurrentState != "running" && present(x, im) {
				out = append(out, away(x, im)...)
			}
		}
	}
	return out[:min(len(out), 3)]
}

// Modes quotes which replicas an engine that runs does not use, and those that Longhorn does not know.
func Modes(x *snapshot.Index, v *snapshot.Volume) []report.Evidence {
	e := x.EngineActive(v)
	if e == nil || e.CurrentState != "running" {
		return nil
	}
	var not []string
	for _, name := range slices.Sorted(maps.Keys(e.ReplicaModes)) {
		if mode := e.ReplicaModes[name]; mode != "RW" {
			not = append(not, name+" "+mode)
		}
	}
	if len(not) == 0 {
		return nil
	}
	return []report.Evidence{evidence.FromAPI("Engine "+e.Name, "status.replicaModeMap", strings.Join(not, ", "))}
}

// present tells whether an instance-manager is one of the release that runs: what an upgrade
// leaves behind stops when its last instance does.
func present(x *snapshot.Index, im *snapshot.LHInstanceManager) bool {
	wanted, known := x.Setting("default-instance-manager-image")
	return !known || im.Image == wanted
}

// Gone is an instance-manager of a node that ended and was not started again, and what is said
// of its pod: of a node that works, on which Longhorn wants to have one.
func Gone(x *snapshot.Index, node string) (*snapshot.LHInstanceManager, []report.Evidence) {
	if x.LHNode(node) == nil || !nodeWorks(x, node) || managerAway(x, node) != "" {
		return nil, nil
	}
	for _, im := range x.InstanceManagersOn(node) {
		pod := x.Pod(im.Namespace, im.Name)
		young := pod != nil && pods.Young(x, pod, patience)
		if (im.CurrentState == "error" || im.CurrentState == "stopped" && len(im.Engines)+len(im.Replicas) > 0) && present(x, im) && !young {
			return im, away(x, im)
		}
	}
	return nil, nil
}

func away(x *snapshot.Index, im *snapshot.LHInstanceManager) []report.Evidence {
	out := []report.Evidence{evidence.FromAPI("InstanceManager "+im.Name, "status.currentState", im.CurrentState+" on node "+im.NodeID)}
	pod := x.Pod(im.Namespace, im.Name)
	if pod == nil {
		return append(out, evidence.FromAPI("Pod "+im.Namespace+"/"+im.Name, "", "not found"))
	}
	out = append(out, pods.State(pod))
	for _, e := range slices.Backward(x.Events("Pod", pod.Namespace, pod.Name)) {
		if e.Type == "Warning" {
			return append(out, evidence.FromEvent(pods.Object(pod), e))
		}
	}
	return out
}

// logLine finds the newest line in the logs of a pod that fits, and quotes it; a line
// without a date is none of now.
func logLine(x *snapshot.Index, namespace, pod string, within time.Duration, fits func(string) bool) (report.Evidence, bool) {
	for l := range evidence.Lines(x.LogsOf(namespace, pod)) {
		if fits(l.Text) && l.Within(x, within) {
			return l.Evidence(), true
		}
	}
	return report.Evidence{}, false
}

// Suffers tells whether something of a volume is to be explained: somebody waits for it,
// or something fails in whatever words.
func Suffers(pl *evidence.Place) bool {
	return Held(pl) || slices.ContainsFunc(pl.Refused(), func(t evidence.Text) bool { return !t.Ordinary })
}
