package causes

import (
	"slices"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// lhStages is the volume attached to n1, where web-0 waits for its mount.
func lhStages(release string) *world { return lhAttached(lhWorld(release).Waits()) }

// lhNoDisk takes the volume's disk away from a node.
func lhNoDisk(w *world, node string) *world {
	for _, path := range []string{"sys/class/block/sdb", "dev/sdb", "@content/8:16", "dev/longhorn", "sys/class/iscsi"} {
		w.Without(node, path)
	}
	return w
}

// TestWhoChoseTheFrontend: what Longhorn's Volume has and its PersistentVolume does not carry, no class
// gave it; nor does one give what nobody provisioned. (longhorn/longhorn#1739)
func TestWhoChoseTheFrontend(t *testing.T) {
	t.Parallel()
	frontend := func(says string) *world {
		w := lhNoDisk(lhStages("v1.6.2"), "n1").EditIn(volDoc, "frontend: blockdev", "frontend: iscsi").EditIn(engDoc, "endpoint: '/dev/longhorn/"+lhVol+"'", "endpoint: 'iscsi://10.42.11.20:3260/"+lhIQN+"/1'")
		return w.FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = InvalidArgument desc = " + says)
	}
	const (
		refused = "volume " + lhVol + " invalid frontend type iscsi"
		class   = "broken: certain storageclass-parameter-wrong StorageClass fast"
		own     = "broken: certain storageclass-parameter-wrong PersistentVolume pv-data"
		option  = "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = mount failed: exit status 32\nMounting arguments: -t ext4 -o nobarier,defaults /dev/sdb /g\nOutput: mount: /g: unrecognized mount option \"nobarier\" or missing value"
	)
	given := func() *world {
		return frontend(refused).Edit("numberOfReplicas: '2'}}", "numberOfReplicas: '2', frontend: iscsi}}")
	}
	mounts := func() *world {
		return lhStages("v1.6.2").Edit("volumeMode: Filesystem\n  csi: {", "volumeMode: Filesystem\n  mountOptions: [nobarier]\n  csi: {").FailedMount(option)
	}
	const made = "annotations: {pv.kubernetes.io/provisioned-by: \"driver.longhorn.io\"}"
	showEach(t, map[string]shown{
		"chosen in the UI":                 {frontend(refused), own},
		"the same, in older words":         {frontend("There is no block device frontend for volume " + lhVol), own},
		"none at all":                      {frontend("volume "+lhVol+" invalid frontend type ").EditIn(volDoc, "frontend: iscsi", "frontend: ''"), own},
		"none, and it is a standby copy":   {frontend("volume "+lhVol+" invalid frontend type ").EditIn(volDoc, "frontend: iscsi", "frontend: ''").EditIn(volDoc, "Standby: false", "Standby: true"), "broken: certain longhorn-restore-pending Volume longhorn-system/" + lhVol},
		"chosen by the class":              {given(), class},
		"a class of a volume by hand":      {given().Edit(made, "annotations: {}"), class},
		"the same, there is no such class": {given().Edit(made, "annotations: {}").Drop("kind: StorageClass"), own},
		"an option that the class gave":    {mounts(), class},
		"an option that somebody wrote":    {mounts().Edit(made, "annotations: {}").Drop("kind: StorageClass"), own},
		"the words alone, of a block disk": {frontend(refused).EditIn(volDoc, "frontend: iscsi", "frontend: blockdev"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
	})
}

// TestNameThatIsNotTheDisks: Longhorn's plugin looks for its own device node and for no link of udev, and what lies
// below /dev/mapper is over the disk. Whoever runs cryptsetup has a passphrase. (longhorn/longhorn#2801, #5330, #9002)
func TestNameThatIsNotTheDisks(t *testing.T) {
	t.Parallel()
	const waits = "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"
	const format = "format of disk \"/dev/mapper/" + lhVol + "\" failed: type:(\"ext4\") target:(\"/g\") options:(\"defaults\") errcode:(exit status 1) output:(mke2fs 1.46.4 (18-Aug-2021)\nThe file /dev/mapper/" + lhVol + " does not exist and no size was specified.\n)"
	const run = "failed to execute: /usr/bin/nsenter [nsenter --mount=/host/proc/1/ns/mnt cryptsetup luksOpen /dev/longhorn/" + lhVol + " " + lhVol + " -d -], output , stderr No usable keyslot is available.: exit status 1"
	says := func(w *world, text string) *world {
		return w.FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = " + text)
	}
	sealed := func() *world { return lhStages("v1.5.1").EditIn(volDoc, "encrypted: false", "encrypted: true") }
	yetOf := func(w *world) *world { return says(w, "volume "+lhVol+" hasn't been attached yet") }
	upgraded := func() *world {
		return yetOf(lhNoDisk(lhStages("v1.5.1"), "n1")).EditIn(engDoc, "endpoint: '/dev/longhorn/"+lhVol+"'", "endpoint: ''").EditIn(engDoc, "upgradedReplicaAddressMap: {}", "upgradedReplicaAddressMap: {"+lhVol+"-r-9: '10.42.11.20:10020'}")
	}
	yet := func() *world { return yetOf(lhStages("v1.5.1")) }
	showEach(t, map[string]shown{
		"not attached yet, its node is there": {yet(), waits},
		"not attached yet, an upgrade hangs":  {upgraded(), "broken: certain longhorn-engine-upgrade-stuck Volume longhorn-system/" + lhVol},
		"not attached yet, its node is gone":  {yet().Without("n1", "dev/longhorn"), "broken: certain device-link-missing Device n1/8:16"},
		"no mapping over the disk":            {says(sealed(), format), "broken: unexplained format-failed; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"a passphrase that opens nothing":     {says(sealed(), run), waits},
		"no passphrase at all":                {says(sealed(), "missing passphrase for encrypted volume "+lhVol), "broken: certain encryption-key-wrong PersistentVolume pv-data"},
	})
}

// lhNoManager lets the instance-manager of n1 not run: its state, and what is put in the place of its pod's.
func lhNoManager(w *world, state, phase, container string) *world {
	w.EditIn(im1Doc, "currentState: running", "currentState: "+state).EditIn(im1Pod, "phase: Running", "phase: "+phase).EditIn(im1Pod, "status: 'True', lastTransitionTime: '2025-12-20T08:00:10Z'", "status: 'False', lastTransitionTime: '2026-01-02T11:40:10Z'")
	return w.EditIn(im1Pod, "ready: true, restartCount: 0, state: {running: {startedAt: '2025-12-20T08:00:05Z'}}", container).EditIn(im1Pod, "creationTimestamp: '2025-12-20T08:00:00Z'", "creationTimestamp: '2026-01-02T11:40:00Z'")
}

// TestInstanceManagerThatIsMissed: nothing is started where no instance-manager runs, whatever keeps its pod:
// no CPU for it, no network, or no pod at all. (longhorn/longhorn#1876, #4937)
func TestInstanceManagerThatIsMissed(t *testing.T) {
	t.Parallel()
	const (
		made  = "ready: false, restartCount: 0, state: {waiting: {reason: ContainerCreating}}"
		found = "broken: certain longhorn-instance-manager-restarted Pod longhorn-system/instance-manager-n1"
		pod   = "creationTimestamp: '2026-01-02T11:40:00Z'"
	)
	waits := func() *world { return lhIdle(lhWaits(lhWorld("v1.7.2"))) }
	refused := func() *world { return lhNoManager(waits(), "error", "Failed, reason: OutOfcpu", made) }
	nodePod := func() *world {
		return waits().Drop(im1Pod).EditIn(im1Doc, "currentState: running", "currentState: stopped")
	}
	showEach(t, map[string]shown{
		"no CPU for it":                      {refused(), found},
		"its network is not made":            {lhNoManager(waits(), "starting", "Pending", made), found},
		"there is no pod":                    {nodePod(), found},
		"whether there is one was not read":  {nodePod().Gap("api//pods/longhorn-system", "Forbidden"), lhStuck},
		"its pod was made a moment ago":      {refused().EditIn(im1Pod, pod, "creationTimestamp: '2026-01-02T11:59:00Z'"), lhStuck},
		"one of an older release":            {refused().Add(lhDoc + "Setting\nmetadata: {name: default-instance-manager-image, namespace: longhorn-system}\nvalue: other\n"), lhStuck},
		"another of the node runs":           {refused().Add(lhDoc + "InstanceManager\nmetadata: {name: instance-manager-next, namespace: longhorn-system, creationTimestamp: '2026-01-02T11:00:00Z'}\nspec: {nodeID: n1, type: aio, dataEngine: v1, image: 'longhornio/longhorn-instance-manager:v1.7.3'}\nstatus: {currentState: running, ip: 10.42.11.77, ownerID: n1}\n"), lhStuck},
		"it is another engine's":             {refused().EditIn(im1Doc, "dataEngine: v1", "dataEngine: v2"), lhStuck},
		"the node of one replica of two":     {lhNoManager(waits(), "error", "Failed", made).EditIn(engDoc, "nodeID: n1", "nodeID: n2").EditIn(volDoc, "nodeID: n1", "nodeID: n2"), lhStuck},
		"nobody writes what it is":           {refused().EditIn(lhDoc+"Node\nmetadata: {name: n1, ", "status: {conditions: [{type: Ready, status: 'True'}", "status: {conditions: [{type: Ready, status: 'False', reason: ManagerPodDown}"), lhStuck},
		"a volume that runs meanwhile on n2": {lhNoManager(lhShare("v1.7.2"), "error", "Failed", made), "healthy"},
	})
}

// lhMapped is an encrypted block volume that web-0 uses through a mapping of so many sectors.
func lhMapped(sectors string) *world {
	w := lhAttached(lhWorldOf("v1.10.1", strings.Replace(lhPV, "volumeMode: Filesystem", "volumeMode: Block", 1)).Runs(0)).EditIn(volDoc, "encrypted: false", "encrypted: true")
	w.Edit("storage: 10Gi", "storage: 20Gi").EditIn(volDoc, "size: '10737418240'", "size: '21474836480'").EditIn(engDoc, "'10737418240'", "'21474836480'")
	w.Without("n1", "sys/class/block/sdb/size").Entries("n1", "sys/class/block/sdb/size", "41943040")
	w = dmOver(w, "n1", "dm-0", "254:0", lhVol, "CRYPT-LUKS2-9f9f9f9f000040008000000000000001-"+lhVol, "sdb").Without("n1", "sys/class/block/dm-0/size").Entries("n1", "sys/class/block/dm-0/size", sectors)
	return w.Mounts("n1", "0:5 /dm-0 /var/lib/kubelet/plugins/kubernetes.io/csi/volumeDevices/publish/pv-data/"+sketchUID+" rw,nosuid shared:2 - devtmpfs udev rw")
}

// TestMappingThatKeptItsSize: the claim counts as grown, and the machine sees the old size. (longhorn/longhorn#12366)
func TestMappingThatKeptItsSize(t *testing.T) {
	t.Parallel()
	showEach(t, map[string]shown{
		"smaller than the disk":    {lhMapped("20938752"), "degraded: likely longhorn-expansion-incomplete PersistentVolumeClaim shop/data"},
		"smaller by its header":    {lhMapped("41910272"), "healthy"},
		"of a volume without keys": {lhMapped("20938752").EditIn(volDoc, "encrypted: true", "encrypted: false"), "healthy"},
	})
}

// TestLeftMountThatHurtsNobody: the pod that uses the volume works, on the node where a mount was left.
func TestLeftMountThatHurtsNobody(t *testing.T) {
	t.Parallel()
	const left = "8:16 / /var/lib/kubelet/pods/dd0c5a7e-0f3d-4a6b-9a55-7765622d3939/volumes/kubernetes.io~csi/pv-data/mount rw,relatime shared:80 - ext4 /dev/longhorn/" + lhVol + " rw"
	runs := func() *world { return lhRuns(lhWorld("v1.8.1")).Mounts("n1", left) }
	ends := func(node, at string) *world {
		w := runs().Drop("kind: Pod\nmetadata: {namespace: shop, name: web-0")
		return second(w, "web-0", node, "{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: 'e0000000-0000-4000-8000-000000000001', controller: true}", "Pending", "").Edit("startTime: '2026-01-02T11:30:00Z'", "startTime: '"+at+"'")
	}
	for name, c := range map[string]struct {
		w    *world
		want string
	}{"nobody waits": {runs(), "degraded"}, "a pod waits on another node": {ends("n2", "2026-01-02T11:30:00Z"), "broken"}} {
		if got, r := c.w.Verdict(t, Catalog(), "pvc shop/data"); string(r.Verdict) != c.want || first(r) != "pod-directory-orphaned certain" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestWhatLiesAboveIsNotRuledOut: an OSD that Ceph put on the disk of a volume is LVM, whoever's it is. (replicatedhq/kURL#3141)
func TestWhatLiesAboveIsNotRuledOut(t *testing.T) {
	t.Parallel()
	busy := func(above bool) *world {
		w := lhStages("v1.3.1").Entries("n1", "@claim/8:16", "EBUSY").FailedMount(stageFails("mount failed: exit status 32\nMounting arguments: -t ext4 -o defaults /dev/longhorn/" + lhVol + " /g\nOutput: mount: /g: /dev/longhorn/" + lhVol + " already mounted or mount point busy."))
		if above {
			w = dmOver(w, "n1", "dm-1", "253:1", "ceph--f5b88e6c--d0c3-osd--block--0af1c760", "LVM-"+strings.Repeat("g", 32)+strings.Repeat("l", 32), "sdb")
		}
		return w
	}
	for _, above := range []bool{true, false} {
		_, r := busy(above).Verdict(t, Catalog(), "pvc shop/data")
		for _, u := range r.Unexplained {
			if out := slices.ContainsFunc(u.RuledOut, func(e report.Excluded) bool { return e.Cause == "lvm-claims-device" }); above == out {
				t.Errorf("%s: LVM above %t, ruled out %t", u.Symptom.Name, above, out)
			}
		}
	}
}

// TestShareThatIsBeingStarted: the server of a share moved, and its clients wait for it. (longhorn/longhorn#9093)
func TestShareThatIsBeingStarted(t *testing.T) {
	t.Parallel()
	moved := func(made string) *world {
		w := lhShare("v1.9.1").EditIn("kind: ShareManager", "state: running", "state: starting").EditIn(volDoc, "shareState: running", "shareState: starting")
		w.EditIn("name: share-manager-"+lhVol+", uid", "creationTimestamp: '2025-12-20T08:00:00Z'", "creationTimestamp: '"+made+"'").
			EditIn("name: share-manager-"+lhVol+", uid", "{type: Ready, status: 'True', lastTransitionTime: '2025-12-20T08:00:10Z'}", "{type: Ready, status: 'False', lastTransitionTime: '"+made+"'}").
			EditIn("name: share-manager-"+lhVol+", uid", "ready: true", "ready: false").
			EditIn("kind: Endpoints\nmetadata: {name: "+lhVol, "subsets: [{addresses: ", "subsets: [{notReadyAddresses: ")
		return w.Entries("n1", "@dial/10.96.10.77:2049", "ECONNREFUSED", "@statfs"+w.Publish(0), "@error EIO", "@statfs"+w.Stage(), "@error EIO")
	}
	const pod = "share-manager-" + lhVol
	again := moved("2026-01-02T11:59:20Z").Add("apiVersion: v1\nkind: Event\nmetadata: {namespace: longhorn-system, name: e9}\ninvolvedObject: {kind: Pod, namespace: longhorn-system, name: " + pod + ", uid: u0}\ntype: Normal\nreason: Started\nmessage: Started container share-manager\nfirstTimestamp: '2026-01-02T11:58:20Z'\nlastTimestamp: '2026-01-02T11:58:20Z'\nsource: {component: kubelet, host: n2}\n")
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"a moment ago":                        {moved("2026-01-02T11:59:20Z"), "waiting: certain nfs-server-unreachable Node n1 waiting"},
		"a moment ago, and its mounts answer": {moved("2026-01-02T11:59:20Z").Answers("n1", lhShare("v1.9.1").Stage(), lhShare("v1.9.1").Publish(0)).Entries("n1", "@dial/10.96.10.77:2049", "ok 1ms"), "healthy"},
		"half an hour ago":                    {moved("2026-01-02T11:30:00Z"), "broken: certain longhorn-share-manager-down ShareManager longhorn-system/" + lhVol},
		"one of many":                         {again, "broken: certain nfs-server-unreachable Node n1"},
	} {
		got, _ := c.w.Verdict(t, Catalog(), "pvc shop/data")
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// TestCertificateThatNobodyTrusts: who answered can be reached. (longhorn/longhorn#6259)
func TestCertificateThatNobodyTrusts(t *testing.T) {
	t.Parallel()
	call := func(end string) *world {
		said := `rpc error: code = Internal desc = Bad response statusCode [500]. Body: [message=unable to attach volume: Internal error occurred: failed calling webhook \"mutator.longhorn.io\": failed to call webhook: Post \"https://longhorn-admission-webhook.longhorn-system.svc:9502/v1/webhook/mutation?timeout=10s\": ` + end + `] from [http://longhorn-backend:9500/v1/volumes/v?action=attach]`
		return lhWaits(lhWorld("v1.5.0")).EditIn("status: {attached: false}", "attached: false", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: \""+said+"\"}")
	}
	for end, reached := range map[string]bool{
		"tls: failed to verify certificate: x509: certificate signed by unknown authority": true,
		"x509: certificate has expired or is not yet valid":                                true,
		"dial tcp 10.96.3.3:9502: i/o timeout":                                             false,
	} {
		got, r := call(end).Verdict(t, Catalog(), "pvc shop/data")
		if want := "broken: likely longhorn-control-plane-down Service longhorn-system/longhorn-admission-webhook"; got != want {
			t.Errorf("%s: got %s, want %s", end, got, want)
		}
		if said := r.RootCauses[0].Message; strings.Contains(said, "is not trusted") != reached || strings.Contains(said, "firewall") == reached {
			t.Errorf("%s: %s", end, said)
		}
	}
}

// TestShareThatANewPodDoesNotStart: what keeps the pod of a share-manager would keep the next one, too.
func TestShareThatANewPodDoesNotStart(t *testing.T) {
	t.Parallel()
	const pod, ready = "name: share-manager-" + lhVol + ", uid", "ready: true, restartCount: 0, state: {running: {startedAt: '2025-12-20T08:00:05Z'}}"
	off := func(is string) *world {
		w := lhShare("v1.9.1").EditIn("kind: ShareManager", "state: running", "state: starting").EditIn(volDoc, "shareState: running", "shareState: starting")
		return w.EditIn(pod, "status: 'True', lastTransitionTime: '2025-12-20T08:00:10Z'", "status: 'False', lastTransitionTime: '2026-01-02T11:20:10Z'").EditIn(pod, ready, "ready: false, restartCount: 0, state: {"+is+"}")
	}
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"it waits for an image": {off("waiting: {reason: ImagePullBackOff}"), "pull the image longhornio/longhorn-share-manager:v1.9.1"},
		"no node has room":      {off("waiting: {reason: ContainerCreating}").EditIn(pod, "conditions: [", "conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/3 nodes are available: 3 Insufficient cpu.'}, "), "3 Insufficient cpu"},
		"it runs and is not up": {off("running: {startedAt: '2025-12-20T08:00:05Z'}"), "share-manager pod of volume"},
	} {
		_, r := c.w.Verdict(t, Catalog(), "pvc shop/data")
		if first(r) != "longhorn-share-manager-down certain" || !slices.ContainsFunc(r.RootCauses[0].Remedies, func(s report.Remedy) bool { return strings.Contains(s.Name+s.Title, c.want) }) {
			t.Errorf("%s: %s %s, without a step that says %q: %v", name, r.Verdict, first(r), c.want, r.RootCauses)
		}
	}
}

// TestShareThatOnlyItsManagerNames: a Volume whose status has no shareEndpoint yet is asked for where its
// ShareManager offers it.
func TestShareThatOnlyItsManagerNames(t *testing.T) {
	t.Parallel()
	from := func(answer string) *world {
		return second(lhShare("v1.7.2"), "web-b", "n3", "", "Pending", "").Attached("n3").Entries("n3", "@dial/10.96.10.77:2049", answer)
	}
	showEach(t, map[string]shown{
		"it does not answer": {from("timeout"), "broken: certain network-host-to-pod-blocked Node n3"},
		"it answers":         {from("ok 1ms"), "broken: unexplained pod-waiting-for-volume"},
	})
}
