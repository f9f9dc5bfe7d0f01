package causes

import (
	"strings"
	"testing"
)

// TestMadeByHand: faults that were made in a real cluster, and what looks like them.
func TestMadeByHand(t *testing.T) {
	t.Parallel()
	const refused = "csinode.storage.k8s.io \"n1\" not found"
	const ran = "state: {waiting: {reason: ContainerCreating}}}"
	ended := func(code string) *world {
		w := cinderW().Waits().Attached("n1").Edit("phase: Pending, startTime", "phase: Running, startTime").
			Edit(ran, "state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: "+code+", reason: Error, startedAt: '2026-01-02T11:57:00Z', finishedAt: '2026-01-02T11:57:00Z'}}}")
		return w
	}
	mounted := func(w *world, options string) *world {
		return w.Disk("n1", "sdb", "8:16").LiveExt4("n1", "sdb").Mounts("n1", "8:16 / "+w.Stage()+" rw,relatime shared:70 - ext4 /dev/sdb rw",
			"8:16 / "+w.Publish(0)+" "+options+" shared:70 - ext4 /dev/sdb rw").Answers("n1", w.Stage(), w.Publish(0))
	}
	taken := func(ready string) *world {
		w := cinderW().Attached("n2").Drop("kind: VolumeAttachment").Edit("volumesAttached: [{name: \"kubernetes.io/csi/cinder.csi.openstack.org^0e6dd0a8-1111-4222-8333-123456789012\", devicePath: ''}]", "volumesAttached: []")
		if ready == "" {
			return w
		}
		return notReady(w, "n2", ready).Unprobed("n2", "NodeNotReady")
	}
	dial := func(w *world) *world {
		return w.FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial unix /var/lib/kubelet/plugins/" + w.Driver + "/csi.sock: connect: no such file or directory\"")
	}
	const socket = "var/lib/kubelet/plugins/cinder.csi.openstack.org/csi.sock"
	gold := pendingClaim(cinderW(), "Immediate", "volume.kubernetes.io/storage-provisioner: cinder.csi.openstack.org").
		Edit("status: {phase: Pending}", "status: {phase: Pending}").Edit("storageClassName: fast, resources", "storageClassName: fast, volumeAttributesClassName: gold, resources").
		Add("\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pvc-c, uid: 'a1000000-0000-4000-8000-000000000009', creationTimestamp: '2026-01-02T11:31:00Z'}\nspec: {capacity: {storage: 10Gi}, accessModes: [ReadWriteOnce], persistentVolumeReclaimPolicy: Delete, storageClassName: fast, claimRef: {kind: PersistentVolumeClaim, namespace: shop, name: data, uid: 'c0000000-0000-4000-8000-000000000001'}, csi: {driver: cinder.csi.openstack.org, volumeHandle: h}}\nstatus: {phase: Bound}\n")
	showEach(t, map[string]shown{
		"the socket was removed":                        {dial(cinderW().Waits().Attached("n1")).Without("n1", socket).Entries("n1", "var/lib/kubelet/plugins/cinder.csi.openstack.org", "@dir"), "broken: certain csi-plugin-not-registered Pod kube-system/plugin-1"},
		"the socket is there":                           {dial(cinderW().Waits().Attached("n1")), "broken: likely csi-plugin-not-registered Pod kube-system/plugin-1"},
		"a file that was never a socket of its":         {dial(cinderW().Waits().Attached("n1")).Edit("/csi.sock: connect", "/gone.sock: connect"), "broken: likely csi-plugin-not-registered Pod kube-system/plugin-1"},
		"its volume has no class of attributes":         {gold, "broken: certain claim-volume-mismatch PersistentVolumeClaim shop/data"},
		"CSINode is gone, the attacher says so":         {va(cinderW().Waits(), "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:59:00Z', message: '"+strings.ReplaceAll(refused, "'", "")+"'}").Drop("kind: CSINode\nmetadata: {name: n1,"), "broken: certain csi-plugin-not-registered Pod kube-system/plugin-1"},
		"attached late, the controller tries again":     {attachFailed(va(cinderW().Waits(), "csi-a", "n1", "", "attached: true"), "AttachVolume.Attach failed for volume \"pv-data\" : timed out waiting for external-attacher of cinder.csi.openstack.org CSI driver to attach volume"), "waiting: possible attach-state-out-of-step Node n1 waiting"},
		"a program on a mount with noexec":              {mounted(ended("126"), "rw,noexec,relatime"), "broken: likely mount-forbids-programs Pod shop/web-0"},
		"a program without its x bit":                   {mounted(ended("126"), "rw,relatime"), "healthy"},
		"a program that fails, on a mount of that kind": {mounted(ended("1"), "rw,noexec,relatime"), "healthy"},
		"taken from a node that is silent":              {taken("2026-01-02T11:20:00Z"), "degraded: likely node-down Node n2"},
		"in use on a node that reports":                 {taken(""), "healthy"},
	})
}

// TestPluginThatFailsAlone: a node's plugin that ends over and over is a fault of the node, though
// nobody has a volume of it there.
func TestPluginThatFailsAlone(t *testing.T) {
	t.Parallel()
	const runs = "{name: driver, ready: true, restartCount: 0, state: {running: {startedAt: '2025-11-07T13:25:00Z'}}}"
	fails := func() *world {
		return ebsMounted(ebs().Runs(0).Attached("n1"), "n1", 0).Answers("n1", ebs().Publish(0)).EditIn("name: plugin-3,", runs, "{name: driver, ready: false, restartCount: 9, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 3, startedAt: '2026-01-02T11:57:00Z', finishedAt: '2026-01-02T11:57:01Z'}}}").
			EditIn("name: plugin-3,", "conditions: [{type: Ready, status: 'True'}]", "conditions: [{type: Ready, status: 'False', lastTransitionTime: '2026-01-02T11:20:00Z'}]")
	}
	show(t, fails(), "node n3", "degraded: certain csi-plugin-not-registered Pod kube-system/plugin-3")
	show(t, fails(), "node n2", "healthy")
	show(t, fails(), "pvc shop/data", "healthy")
}
