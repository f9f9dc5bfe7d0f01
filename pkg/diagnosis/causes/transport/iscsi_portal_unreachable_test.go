package transport_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/transport"
)

// twoPortals is an in-tree volume with two portals, for which a pod waits on n1.
func twoPortals(entries ...string) *sketch.Sketch {
	s := sketch.New(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1}
spec: {accessModes: [ReadWriteOnce], claimRef: {namespace: shop, name: data, uid: c1}, iscsi: {targetPortal: '10.9.0.1:3260', portals: ['10.9.0.2'], iqn: iqn.2020-01.com.example:a, lun: 0}}
status: {phase: Bound}
`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: data, uid: c1}
spec: {volumeName: pv-1}
status: {phase: Bound}
`, `
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: db-0, uid: p1, creationTimestamp: '2026-01-02T09:00:00Z'}
spec: {nodeName: n1, volumes: [{name: d, persistentVolumeClaim: {claimName: data}}], containers: [{name: app, image: i}]}
status: {phase: Pending}
`)
	if len(entries) > 0 {
		s.Node("n1", entries...)
	}
	return s
}

func TestISCSIPortalUnreachable(t *testing.T) {
	t.Parallel()
	const one, two = "@dial/10.9.0.1:3260", "@dial/10.9.0.2:3260"
	failed := func(text string) string {
		return "apiVersion: v1\nkind: Event\nmetadata: {namespace: shop, name: e}\ninvolvedObject: {kind: Pod, namespace: shop, name: db-0, uid: p1}\nreason: FailedMount\nsource: {component: kubelet, host: n1}\nlastTimestamp: '2026-01-02T11:59:00Z'\nmessage: 'MountVolume.WaitForAttach failed for volume \"pv-1\" : " + text + "'\n"
	}
	session := []string{"sys/class/iscsi_session/session1/targetname", "iqn.2020-01.com.example:a", "sys/class/iscsi_session/session1/state", "LOGGED_IN",
		"sys/class/iscsi_connection/connection1:0/persistent_address", "10.9.0.1", "sys/class/iscsi_connection/connection1:0/address", "10.9.0.1",
		"sys/class/iscsi_session/session1/device/connection1:0", "@dir"}
	pod := "apiVersion: v1\nkind: Pod\nmetadata: {namespace: san, name: target-0}\nspec: {nodeName: n2}\nstatus: {phase: Running, podIP: 10.9.0.1}\n"
	others := func(s *sketch.Sketch) *sketch.Sketch {
		return s.Add("apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-2}\nspec: {accessModes: [ReadWriteOnce], claimRef: {namespace: shop, name: more, uid: c2}, iscsi: {targetPortal: '10.9.0.7:3260', iqn: iqn.2020-01.com.example:b, lun: 0}}\nstatus: {phase: Bound}\n",
			"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: more, uid: c2}\nspec: {volumeName: pv-2}\nstatus: {phase: Bound}\n",
			"apiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: db-1, uid: p2}\nspec: {nodeName: n1, volumes: [{name: d, persistentVolumeClaim: {claimName: more}}], containers: [{name: app, image: i}]}\nstatus: {phase: Running}\n")
	}
	const third = "@dial/10.9.0.7:3260"
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   []string
	}{
		"both answer":  {twoPortals(one, "ok 1ms", two, "ok 1ms"), []string{}},
		"none answers": {twoPortals(one, "timeout 3s", two, "EHOSTUNREACH"), []string{"certain Node n1"}},
		"none answers, that of another volume does": {others(twoPortals(one, "timeout 3s", two, "EHOSTUNREACH", third, "ok 1ms")), []string{"certain Node n1"}},
		"none answers, one that nobody names does":  {twoPortals(one, "timeout 3s", two, "EHOSTUNREACH", third, "ok 1ms"), []string{}},
		"one is dead, and nobody says so":           {twoPortals(one, "timeout 3s", two, "ok 1ms"), []string{}},
		"one is dead, and it is named":              {twoPortals(one, "timeout 3s", two, "ok 1ms").Add(failed("iscsiadm: cannot make connection to 10.9.0.1: No route to host")), []string{"certain Node n1"}},
		"it answers, and it was named":              {twoPortals(one, "ok 1ms", two, "ok 1ms").Add(failed("iscsiadm: cannot make connection to 10.9.0.1: No route to host")), []string{}},
		"not tried, and it is named":                {twoPortals().Add(failed("iscsiadm: cannot make connection to 10.9.0.1: No route to host")), []string{"likely Node n1"}},
		"not tried":                                 {twoPortals(), []string{}},
		"logged in through it":                      {twoPortals(append(session, one, "timeout 3s", two, "timeout 3s")...), []string{"certain Node n1"}},
		"a pod of the cluster":                      {twoPortals(one, "timeout 3s", two, "ok 1ms").Add(pod, failed("iscsiadm: cannot make connection to 10.9.0.1: No route to host")), []string{}},
		"redundancy is gone":                        {twoPortals(one, "timeout 3s", two, "ok 1ms").Edit("phase: Pending", "phase: Running"), []string{"certain Node n1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, sketch.Causes(c.sketch.Ask(t, "pvc shop/data", transport.ISCSIPortalUnreachable))); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestISCSIPortalLost: the portal through which the disk of a running pod came does not answer any more, whatever other
// portals of the node do.
func TestISCSIPortalLost(t *testing.T) {
	t.Parallel()
	const target, one, two = "iqn.2015-10.com.array:t0", "@dial/10.5.0.10:3260", "@dial/10.6.0.10:3260"
	for name, c := range map[string]struct {
		state, session, ip, dial string
		want                     []string
	}{
		"its session is lost":            {"transport-offline", "FREE", "10.5.0.10", "ECONNREFUSED", []string{"certain Node n1"}},
		"its session is to be recovered": {"blocked", "FAILED", "10.5.0.10", "timeout 3s", []string{"certain Node n1"}},
		"it answers again":               {"blocked", "FAILED", "10.5.0.10", "ok 1ms", []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sketch.New(arrayVolume).Node("n1", append(path("sdb", "8:16", c.state, "3", target, c.ip, c.session), "proc/1/mountinfo", mounted8, one, c.dial, two, "ok 1ms")...)
			if diff := cmp.Diff(c.want, sketch.Causes(s.Ask(t, "pvc shop/data", transport.ISCSIPortalUnreachable))); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
