package pods_test

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
)

func TestHostPathMismatch(t *testing.T) {
	t.Parallel()
	wants := func(kind string) *sketch.Sketch {
		return sketch.New("apiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: db-0, uid: p1, creationTimestamp: '2026-01-02T11:00:00Z'}\nspec: {nodeName: n1, volumes: [{name: h, hostPath: {path: /srv/x, type: '" + kind + "'}}], containers: [{name: app, image: i}]}\nstatus: {phase: Pending}\n")
	}
	said := func(s *sketch.Sketch, text string) *sketch.Sketch {
		return s.Add("apiVersion: v1\nkind: Event\nmetadata: {namespace: shop, name: e}\ninvolvedObject: {kind: Pod, namespace: shop, name: db-0, uid: p1}\nreason: FailedMount\nsource: {component: kubelet, host: n1}\nlastTimestamp: '2026-01-02T11:59:00Z'\nmessage: '" + text + "'\n")
	}
	const refused = `MountVolume.SetUp failed for volume "h" : hostPath type check failed: /srv/x is not a directory`
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   string // found, said, is
	}{
		"the kubelet says so":          {said(wants("Directory"), refused), " said yes"},
		"of another path":              {said(wants("Directory"), strings.ReplaceAll(refused, "/srv/x", "/srv/y")), "  no"},
		"nobody says so":               {wants("Directory"), "  no"},
		"it is there by now":           {said(wants("Directory"), refused).Node("n1", "srv/x", "@dir"), " said no"},
		"a file, seen":                 {wants("Directory").Node("n1", "srv/x", "text"), "file  yes"},
		"any type":                     {wants("").Node("n1", "srv/x", "text"), "  no"},
		"the path was not read":        {wants("Directory").Node("n1"), "  no"},
		"the kubelet says so, a file":  {said(wants("Directory"), refused).Node("n1", "srv/x", "text"), "file said yes"},
		"a link leads where one likes": {wants("Directory").Node("n1", "srv/x", "@link /data"), "link  no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := c.sketch.Index(t)
			pl := &evidence.Place{X: x, Pod: x.Pod("shop", "db-0"), Node: "n1", View: x.View("n1")}
			found, told, is := pods.HostPaths(x, pl.Pod)[0].Mismatch(pl)
			got := found + " "
			if told {
				got += "said"
			}
			if is.Yes() {
				got += " yes"
			} else {
				got += " no"
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestNoNodeFits(t *testing.T) {
	t.Parallel()
	scene := func(zone, node string) *sketch.Sketch {
		return sketch.New(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1}
spec:
  claimRef: {namespace: shop, name: data, uid: c1}
  csi: {driver: disk.example.com, volumeHandle: h}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [`+zone+`]}]}]}}
`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: data, uid: c1}
spec: {volumeName: pv-1}
status: {phase: Bound}
`, `
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: db-0, uid: p1}
spec: {volumes: [{name: d, persistentVolumeClaim: {claimName: data}}], containers: [{name: app, image: i}]}
status: {phase: Pending}
`, node)
	}
	const inA = "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {topology.kubernetes.io/zone: a}}\n"
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		fits   bool // no node
		whole  bool
		guilty int
	}{
		"another zone":                {scene("b", inA), true, true, 1},
		"another zone, nodes":         {scene("b", inA).Gap("api//nodes", "Forbidden"), true, false, 1},
		"its zone":                    {scene("a", inA), false, false, 0},
		"its zone, cordoned":          {scene("a", inA+"spec: {unschedulable: true}\n"), true, true, 0},
		"its zone under its old name": {scene("a", strings.ReplaceAll(inA, "topology.kubernetes.io", "failure-domain.beta.kubernetes.io")), false, false, 0},
		"no node was read":            {scene("b", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"), false, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := c.sketch.Index(t)
			pod := x.Pod("shop", "db-0")
			got, ok := pods.NoNodeFits(x, pod, x.VolumesOfPod(pod))
			if ok != c.fits || ok && (got.Whole(x).Yes() != c.whole || len(got.Guilty) != c.guilty || !got.Is.Yes()) {
				t.Errorf("got %v, whole %v, %d guilty", ok, got.Whole(x).Yes(), len(got.Guilty))
			}
		})
	}
}
