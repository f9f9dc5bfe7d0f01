package causes

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// modes gives the volume and its claim other access modes.
func modes(w *world, list string) *world {
	before := "ReadWriteOnce"
	if strings.HasPrefix(w.Driver, "nfs") {
		before = "ReadWriteMany"
	}
	w.Edit("accessModes: ["+before+"]", "accessModes: ["+list+"]")
	return w
}

// ends has the pod web-1 of n2 told to end at a time.
func ends(w *world, at string) *world {
	return w.EditIn("kind: Pod\nmetadata: {namespace: shop, name: web-1,", ", labels: {app: web}", ", deletionTimestamp: '"+at+"', deletionGracePeriodSeconds: 30, labels: {app: web}")
}

// TestAccessModesAreNoProof: a share may be called ReadWriteOnce and is everybody's; a disk may be
// called ReadWriteMany, and its filesystem is one node's.
func TestAccessModesAreNoProof(t *testing.T) {
	t.Parallel()
	const taken = "rpc error: code = Internal desc = Could not attach volume \"vol-0a1b2c3d4e5f60718\" to node \"n1\": operation error EC2: AttachVolume, https response error StatusCode: 400, RequestID: 3f9a0f0a, api error VolumeInUse: vol-0a1b2c3d4e5f60718 is already attached to an instance"
	lost := func(w *world) *world { return notReady(w, "n2", "2026-01-02T11:20:00Z").Unprobed("n2", "NodeNotReady") }
	refused := func(w *world) *world {
		return va(attachFailed(modes(w, "ReadWriteMany").Waits().Attached("n2"), "AttachVolume.Attach failed for volume \"pv-data\" : "+taken), "csi-n1", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:59:00Z', message: '"+taken+"'}")
	}
	once := func() *world { return modes(nfs(), "ReadWriteOnce").Waits() }
	left := func(list string) *world {
		w := sanDisk(modes(pureISCSI(), list).Waits().Attached("n1"), "n2", "sdc", "8:32").Entries("n2", "@content/8:32", "TYPE=xfs\nUUID=2f\nSTATE=dirty")
		return w.Mounts("n2", "8:32 / "+w.Stage()+" rw,relatime shared:63 - xfs /dev/sdc rw").FailedMount(stageFails("device 600a0980123456789012345678901234 is reserved by another initiator"))
	}
	const behind = "broken: certain device-mapped-on-other-node Device n2/8:32"
	showEach(t, map[string]shown{
		"a share, once: a silent node keeps nobody from it":   {lost(once().Runs(1)), "broken: unexplained pod-waiting-for-volume"},
		"a share, once: an old pod that ends hands over none": {nfsMounted(ends(once().Runs(1), "2026-01-02T12:00:25Z"), "n2", 1).Answers("n2", nfs().Publish(1)).Entries("n1", "@dial/10.9.0.5:2049", "timeout 3s"), "broken: likely nfs-server-unreachable Node n1"},
		"a disk, shared, and its node is silent":              {lost(refused(ebs())), "broken: certain node-down Node n2"},
		"a disk, shared, and its node is gone":                {refused(ebs()).Drop("metadata: {name: n2, uid: 'f0").Drop("kind: CSINode\nmetadata: {name: n2").Drop("name: plugin-2, uid").Unprobed("n2", "NotRequested"), "broken: certain node-removed Node n2"},
		"a disk, shared, left mounted":                        {left("ReadWriteMany"), behind},
		"a disk of both modes, left mounted":                  {left("ReadWriteOnce, ReadWriteMany"), behind},
		"the kubelet gives a disk of both modes to the group": {modes(ebsMounted(ebs().Waits().Attached("n1"), "n1", 0), "ReadWriteOnce, ReadWriteMany").Edit("restartPolicy: Always, volumes: [{name: data", "securityContext: {fsGroup: 1000}, restartPolicy: Always, volumes: [{name: data").
			Event("Pod", "web-0", sketch.UID+"00", "VolumePermissionChangeInProgress", "kubelet", "n1", "2026-01-02T11:59:00Z", "Setting volume ownership for "+strings.TrimPrefix(ebs().Publish(0), "/var/lib/kubelet/")+" is taking longer than expected, consider using OnRootMismatch - https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#configure-volume-permission-and-ownership-change-policy-for-pods"), "waiting: certain fsgroup-chown-slow Pod shop/web-0 waiting"},
	})
}
