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
	showEach(t, map[string]shown{
		"CSINode is gone, the attacher says so":         {va(cinderW().Waits(), "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:59:00Z', message: '"+strings.ReplaceAll(refused, "'", "")+"'}").Drop("kind: CSINode\nmetadata: {name: n1,"), "broken: certain csi-plugin-not-registered Pod kube-system/plugin-1"},
		"attached late, the controller tries again":     {attachFailed(va(cinderW().Waits(), "csi-a", "n1", "", "attached: true"), "AttachVolume.Attach failed for volume \"pv-data\" : timed out waiting for external-attacher of cinder.csi.openstack.org CSI driver to attach volume"), "waiting: possible attach-state-out-of-step Node n1 waiting"},
		"a program on a mount with noexec":              {mounted(ended("126"), "rw,noexec,relatime"), "broken: likely mount-forbids-programs Pod shop/web-0"},
		"a program without its x bit":                   {mounted(ended("126"), "rw,relatime"), "healthy"},
		"a program that fails, on a mount of that kind": {mounted(ended("1"), "rw,noexec,relatime"), "healthy"},
		"taken from a node that is silent":              {taken("2026-01-02T11:20:00Z"), "degraded: likely node-down Node n2"},
		"in use on a node that reports":                 {taken(""), "healthy"},
	})
}
