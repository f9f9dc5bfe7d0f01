package holder_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func TestDeadlockOf(t *testing.T) {
	t.Parallel()
	rolling := func(replicas int32, surge, unavailable string) *appsv1.Deployment {
		s, u := intstr.Parse(surge), intstr.Parse(unavailable)
		return &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: &replicas, Strategy: appsv1.DeploymentStrategy{
			Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &s, MaxUnavailable: &u}}}}
	}
	recreate := func(replicas int32) *appsv1.Deployment {
		return &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: &replicas, Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}}}
	}
	x := sketch.New().Index(t)
	for name, c := range map[string]struct {
		object any
		want   string
	}{
		"defaults":                        {&appsv1.Deployment{}, "strategy yes"},
		"a quarter of one":                {rolling(1, "25%", "25%"), "strategy yes"},
		"no surge, one may be missing":    {rolling(1, "0", "1"), " no"},
		"no surge, none may be missing":   {rolling(1, "0", "0"), " no"}, // the controller makes that 1
		"no surge, several replicas":      {rolling(2, "0", "1"), "several yes"},
		"a new pod only after the old":    {recreate(1), " no"},
		"recreated, but several replicas": {recreate(3), "several yes"},
		"the Deployment was not read":     {nil, "unknown unseen"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := snapshot.Owner{Kind: "Deployment", Namespace: "shop", Name: "web", Object: c.object}
			if d := holder.DeadlockOf(x, o); d.Says+" "+d.Is.String() != c.want {
				t.Errorf("got %q, want %q", d.Says+" "+d.Is.String(), c.want)
			}
		})
	}
}

const attachment = `
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: csi-1, creationTimestamp: '2026-01-02T08:00:00Z', finalizers: [external-attacher/disk]}
spec: {attacher: disk.example.com, nodeName: n1, source: {persistentVolumeName: pv-1}}
status: {attached: true}
`

func TestGone(t *testing.T) {
	t.Parallel()
	const node = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
	const pv = "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-1}\nspec: {csi: {driver: disk.example.com, volumeHandle: h}}\n"
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   string // node gone, volume gone
	}{
		"both are there":   {sketch.New(attachment, node, pv), "no no"},
		"neither is there": {sketch.New(attachment), "yes yes"},
		"nodes not read":   {sketch.New(attachment, pv).Gap("api//nodes", "Forbidden"), "unseen no"},
		"volumes not read": {sketch.New(attachment, node).Gap("api//persistentvolumes", "Forbidden"), "no unseen"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := c.sketch.Index(t)
			va := x.Attachment("csi-1")
			if got := holder.NodeGone(x, va).String() + " " + holder.VolumeGone(x, va).String(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestMarkedLost(t *testing.T) {
	t.Parallel()
	pod := func(status string) *sketch.Sketch {
		return sketch.New("apiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: db-0, uid: p1, deletionTimestamp: '2026-01-02T11:50:00Z'}\nspec: {nodeName: n1, containers: [{name: app, image: i}]}\nstatus: {"+status+"}\n").
			Gap("api//nodes", "Forbidden")
	}
	const ready = "phase: Running, containerStatuses: [{name: app, ready: true}], conditions: [{type: Ready, status: 'False', lastTransitionTime: '"
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   string
	}{
		"by the node controller":          {pod(ready + "2026-01-02T11:40:00Z'}]"), "yes"},
		"since it is being deleted":       {pod(ready + "2026-01-02T11:50:10Z'}]"), "no"},
		"its container is not ready":      {pod(ready+"2026-01-02T11:40:00Z'}]").Edit("ready: true", "ready: false"), "no"},
		"by an older controller":          {pod("reason: NodeLost"), "yes"},
		"its node was read":               {pod("reason: NodeLost").Add("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"), "no"},
		"nobody deletes it":               {pod("reason: NodeLost").Edit(", deletionTimestamp: '2026-01-02T11:50:00Z'", ""), "no"},
		"an ordinary pod that shuts down": {pod("phase: Running"), "no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := c.sketch.Index(t)
			if got := holder.MarkedLost(x, x.Pod("shop", "db-0")).String(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestStepsOfTwins: the attachment of another PersistentVolume with the same handle bears the name that this one's would.
func TestStepsOfTwins(t *testing.T) {
	t.Parallel()
	volumeOf := func(name string) string {
		return "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: " + name + "}\nspec: {accessModes: [ReadWriteOnce], claimRef: {namespace: shop, name: " + name + "}, csi: {driver: disk.example.com, volumeHandle: h}}\n"
	}
	claim := "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: pv-2}\nspec: {volumeName: pv-2, accessModes: [ReadWriteOnce]}\nstatus: {phase: Bound}\n"
	node := "apiVersion: v1\nkind: Node\nmetadata: {name: n1, creationTimestamp: '2025-01-02T08:00:00Z'}\nstatus: {conditions: [{type: Ready, status: 'True'}], volumesAttached: [{name: kubernetes.io/csi/disk.example.com^h, devicePath: ''}]}\n"
	pod := "apiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: b, uid: u, creationTimestamp: '2025-01-02T09:00:00Z'}\nspec: {nodeName: n2, volumes: [{name: d, persistentVolumeClaim: {claimName: pv-2}}]}\nstatus: {phase: Pending}\n"
	for name, c := range map[string]struct {
		objects []string
		want    int
	}{
		"of nobody":                       {[]string{volumeOf("pv-2"), claim, node, pod}, 1},
		"of its twin, which was not read": {[]string{volumeOf("pv-2"), claim, node, pod, strings.Replace(attachment, "csi-1", snapshot.AttachmentName("h", "disk.example.com", "n1"), 1)}, 0},
	} {
		x := sketch.New().Add(c.objects...).Index(t)
		v := x.VolumeOfClaim("shop", "pv-2")
		if got := holder.Steps(&evidence.Place{X: x, Volume: v}); len(got) != c.want {
			t.Errorf("%s: %d steps, want %d", name, len(got), c.want)
		}
	}
}
