package causes

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// TestSiblingsOfKubernetes: what Kubernetes and its sidecars refuse before any storage is asked.
func TestSiblingsOfKubernetes(t *testing.T) {
	t.Parallel()
	const secrets, noMode = "secrets-store.csi.k8s.io", `MountVolume.SetUp failed for volume "pv-data" : kubernetes.io/csi: mounter.SetUpAt failed to check volume lifecycle mode: volume mode "Persistent" not supported by driver ebs.csi.aws.com (only supports [])`
	inline := func(modes string) *world {
		w := vol(secrets, "h", "").Waits().Edit("volumeLifecycleModes: [Persistent]", "volumeLifecycleModes: ["+modes+"]").
			Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, csi: {driver: "+secrets+", volumeAttributes: {secretProviderClass: app}}}]")
		return w.FailedMount("MountVolume.NewMounter initialization failed for volume \"data\" : volume mode \"Ephemeral\" not supported by driver " + secrets)
	}
	keyless := func(node string, keptOff bool) *world {
		w := pendingClaim(vol("topolvm.io", "h", ""), "WaitForFirstConsumer", anno("topolvm.io")+on(node))
		if keptOff {
			const csiNode = "metadata: {name: n1, uid: '70000000-0000-4000-8000-000000000001'}\nspec: {drivers: "
			w.Drop("name: plugin-1,").Edit(csiNode+"[{name: topolvm.io, nodeID: n1, topologyKeys: null}]}", csiNode+"null}").
				Edit("spec: {podCIDR: 10.42.11.0/24}", "spec: {podCIDR: 10.42.11.0/24, taints: [{key: gpu, effect: NoSchedule}]}")
		}
		unscheduled(w, "running PreBind plugin \"VolumeBinding\": binding volumes: timed out waiting for the condition")
		return pvcEvent(w, "Warning", "ProvisioningFailed", "topolvm.io_controller-0_6d", "failed to provision volume with StorageClass \"fast\": error generating accessibility requirements: no topology key found on CSINode n1")
	}
	going := func(finalizers string) *world {
		return vol("ebs.csi.aws.com", "vol-0a1b2c3d4e5f60718", "").EditIn("kind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: data", "finalizers: [kubernetes.io/pvc-protection]}", "deletionTimestamp: '2026-01-02T11:20:00Z', finalizers: ["+finalizers+"]}")
	}
	const snapshots = "snapshot.storage.kubernetes.io/pvc-as-source-protection"
	subPath := func(status string) *world {
		w := vol("ebs.csi.aws.com", "vol-0a1b2c3d4e5f60718", "").Waits().Unprobed("n1", "PodRejected").Edit("volumeMounts: [{name: data, mountPath: /data}]", "volumeMounts: [{name: data, mountPath: /data, subPath: db}]")
		w.Edit("{name: app, ready: false, restartCount: 0, image: i, imageID: '', state: {waiting: {reason: ContainerCreating}}}", "{name: app, ready: false, "+status+" image: i, imageID: '', state: {waiting: {reason: CreateContainerConfigError}}}")
		return w.Event("Pod", "web-0", sketch.UID+"00", "Failed", "kubelet", "n1", "2026-01-02T11:59:00Z", "Error: failed to prepare subPath for volumeMount \"data\" of container \"app\"")
	}
	const claimed = "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]"
	ephemeral := vol("ebs.csi.aws.com", "vol-0a1b2c3d4e5f60718", "").Waits().Edit(claimed, "volumes: [{name: ws, ephemeral: {volumeClaimTemplate: {spec: {}}}}]").
		Event("Pod", "web-0", sketch.UID+"00", "FailedBinding", "ephemeral_volume", "", "2026-01-02T11:59:00Z", "ephemeral volume ws: create PVC web-0-ws: persistentvolumeclaims \"web-0-ws\" is forbidden: exceeded quota: q")
	young := func(w *world) *world {
		return w.EditIn("name: web-0,", "2026-01-02T11:30:00Z', labels", "2026-01-02T11:59:00Z', labels")
	}
	refusedAtOnce := young(vol("ebs.csi.aws.com", "vol-0a1b2c3d4e5f60718", "").Waits().Edit(claimed, "volumes: [{name: ws, ephemeral: {volumeClaimTemplate: {spec: {}}}}]").
		Event("Pod", "web-0", sketch.UID+"00", "FailedBinding", "ephemeral_volume", "", "2026-01-02T11:59:20Z", "ephemeral volume ws: create PVC web-0-ws: persistentvolumeclaims \"web-0-ws\" is forbidden: exceeded quota: q"))
	account := func(text string) *world {
		return vol("ebs.csi.aws.com", "vol-0a1b2c3d4e5f60718", "").Waits().Edit(claimed, "serviceAccountName: web-0, volumes: [{name: token, projected: {sources: [{serviceAccountToken: {path: token}}]}}]").
			FailedMount("MountVolume.SetUp failed for volume \"token\" : failed to fetch token: " + text)
	}
	manila := func(socket string) *world {
		return vol("nfs.manila.csi.openstack.org", "h", "").Waits().Unprobed("n1", "PodRejected").FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing dial unix /var/lib/kubelet/plugins/" + socket + "/csi.sock: connect: no such file or directory\"")
	}
	denied := func(what string) *world {
		return pendingClaim(vol("topolvm.io", "h", ""), "Immediate", anno("topolvm.io")).File("logs/kube-system/controller-0/csi-provisioner.log",
			"E0102 11:58:10.000000       1 leaderelection.go:436] it is forbidden: User \"system:serviceaccount:kube-system:driver\" cannot create resource \""+what+"\" in API group \"a\" in the namespace \"kube-system\"\n")
	}
	zoned := func(zone string) *world {
		w := pendingClaim(zones(vol("topolvm.io", "h", ""), "topology.topolvm.io/zone", "a", "b", "b"), "WaitForFirstConsumer", anno("topolvm.io")).
			Edit("allowVolumeExpansion: true", "allowVolumeExpansion: true\nallowedTopologies: [{matchLabelExpressions: [{key: topology.topolvm.io/zone, values: ["+zone+"]}]}]")
		return unscheduled(w, "0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind.")
	}
	for _, r := range []struct {
		row
		ask string
	}{
		{row{"a provisioner that may not have its lease", "broken: certain provisioner-not-responding PersistentVolumeClaim shop/data", denied("leases")}, ""},
		{row{"a provisioner that may not write events", "broken: unexplained claim-pending", denied("events")}, ""},
		{row{"a webhook that takes no PersistentVolume", "broken: certain provisioning-failed PersistentVolumeClaim shop/data", pendingClaim(vol("topolvm.io", "h", ""), "Immediate", anno("topolvm.io")).File("logs/kube-system/controller-0/csi-provisioner.log",
			"E0102 11:58:10.000000       1 volume_store.go:146] \"Unhandled Error\" err=\"error saving volume pvc-c0000000-0000-4000-8000-000000000001: Internal error occurred: failed calling webhook \\\"pv.policy.example.com\\\": failed to call webhook: Post \\\"https://policy.svc/pv\\\": context deadline exceeded\" logger=\"UnhandledError\"\n")}, ""},
		{row{"a class for a zone without nodes", "broken: certain topology-conflict StorageClass fast", zoned("c")}, ""},
		{row{"a class for a zone with nodes", "broken: unexplained claim-pending; unexplained pod-waiting-for-volume", zoned("b")}, ""},
		{row{"a claim that Kubernetes may not make", "broken: certain volume-source-missing PersistentVolumeClaim shop/web-0-ws", ephemeral}, "pod shop/web-0"},
		{row{"a claim that Kubernetes may not make for a pod of a minute", "broken: certain volume-source-missing PersistentVolumeClaim shop/web-0-ws", refusedAtOnce}, "pod shop/web-0"},
		{row{"a key that is missing, in a pod of a minute", "broken: certain volume-source-missing ConfigMap shop/conf", young(vol("ebs.csi.aws.com", "vol-0a1b2c3d4e5f60718", "").Waits().
			Edit(claimed, "volumes: [{name: c, configMap: {name: conf, items: [{key: a.yaml, path: a}]}}]").FailedMount("MountVolume.SetUp failed for volume \"c\" : configmap references non-existent config key: a.yaml"))}, "pod shop/web-0"},
		{row{"a claim that is another's, in a pod of a minute", "broken: certain volume-source-missing PersistentVolumeClaim shop/web-0-ws", vol("ebs.csi.aws.com", "vol-0a1b2c3d4e5f60718", "").Waits().
			Edit(claimed, "volumes: [{name: ws, ephemeral: {volumeClaimTemplate: {spec: {}}}}]").EditIn("metadata: {namespace: shop, name: data", "name: data", "name: web-0-ws").
			EditIn("name: web-0,", "2026-01-02T11:30:00Z', labels", "2026-01-02T11:59:00Z', labels")}, "pod shop/web-0"},
		{row{"no account to make a token for", "broken: certain volume-source-missing ServiceAccount shop/web-0", account("serviceaccounts \"web-0\" not found")}, "pod shop/web-0"},
		{row{"a token for a pod that is gone", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume", account("pods \"web-0\" not found")}, "pod shop/web-0"},
		{row{"a driver that calls the socket of another", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume", manila("csi-nfsplugin")}, ""},
		{row{"a driver that nobody hears", "broken: likely csi-plugin-not-registered Pod kube-system/plugin-1", manila("nfs.manila.csi.openstack.org")}, ""},
		{row{"a volume of the pod, and no CSIDriver", "broken: certain csidriver-object-wrong CSIDriver " + secrets, inline("Ephemeral").Drop("kind: CSIDriver")}, "pod shop/web-0"},
		{row{"a daemon behind the plugin that does not answer it", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume", vol("topolvm.io", "h", "").Waits().Attached("n1").
			FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial unix /run/topolvm/lvmd.sock: connect: no such file or directory\"")}, "pvc shop/data"},
		{row{"a claim, of a driver for volumes of pods alone", "broken: certain csidriver-object-wrong CSIDriver ebs.csi.aws.com", ebs().Waits().Attached("n1").Edit("volumeLifecycleModes: [Persistent]", "volumeLifecycleModes: [Ephemeral]")}, "pvc shop/data"},
		{row{"a claim, and the API server does not know the modes", "broken: likely csidriver-object-wrong CSIDriver ebs.csi.aws.com", ebs().Waits().Attached("n1").Edit("volumeLifecycleModes: [Persistent]", "volumeLifecycleModes: []").FailedMount(noMode)}, "pvc shop/data"},
		{row{"a claim, and the object lists its mode meanwhile", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume", ebs().Waits().Attached("n1").FailedMount(noMode)}, "pvc shop/data"},
		{row{"a claim, and nobody says that the mode is missing", "broken: unexplained pod-waiting-for-volume", ebs().Waits().Attached("n1").Edit("volumeLifecycleModes: [Persistent]", "volumeLifecycleModes: []")}, "pvc shop/data"},
		{row{"a volume of the pod, of a driver for claims", "broken: certain csidriver-object-wrong CSIDriver " + secrets, inline("Persistent")}, "pod shop/web-0"},
		{row{"a volume of the pod, of a driver that answers", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume", inline("Persistent").Edit("MountVolume.NewMounter initialization failed for volume \\\"data\\\" : volume mode \\\"Ephemeral\\\" not supported by driver "+secrets, "MountVolume.SetUp failed for volume \\\"data\\\" : rpc error: code = Unknown desc = vault is sealed")}, "pod shop/web-0"},
		{row{"a volume of the pod, and the object is right", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume", inline("Persistent, Ephemeral")}, "pod shop/web-0"},
		{row{"no plugin where the volume shall be made", "broken: certain csi-plugin-not-on-node Node n1", keyless("n1", true)}, ""},
		{row{"the plugin is there, and the provisioner refuses", "broken: certain provisioning-failed PersistentVolumeClaim shop/data", keyless("n1", false)}, ""},
		{row{"a plugin that crashes where the volume shall be made", "broken: certain csi-plugin-not-registered Pod kube-system/plugin-1", keyless("n1", false).
			Edit("metadata: {name: n1, uid: '70000000-0000-4000-8000-000000000001'}\nspec: {drivers: [{name: topolvm.io, nodeID: n1, topologyKeys: null}]}", "metadata: {name: n1, uid: '70000000-0000-4000-8000-000000000001'}\nspec: {drivers: null}")}, ""},
		{row{"the words name another node than the chosen one", "broken: certain provisioning-failed PersistentVolumeClaim shop/data", keyless("n2", true)}, ""},
		{row{"an in-tree plugin that gets no secret", "broken: likely csi-credentials-wrong Secret shop/nas-secret", vol("ebs.csi.aws.com", "vol-0a1b2c3d4e5f60718", "").Waits().
			Edit(claimed, "volumes: [{name: nas, flexVolume: {driver: example.com/nas, secretRef: {name: nas-secret}}}]").FailedMount("MountVolume.SetUp failed for volume \"nas\" : Couldn't get secret shop/nas-secret err: no answer")}, "pod shop/web-0"},
		{row{"a snapshot that is never ready", "broken: likely deletion-blocked-by-finalizer PersistentVolumeClaim shop/data", going(snapshots)}, ""},
		{row{"a clone that is being made", "broken: likely deletion-blocked-by-finalizer PersistentVolumeClaim shop/data", going("provisioner.storage.kubernetes.io/cloning-protection")}, ""},
		{row{"a snapshot, and a pod that runs", "waiting: certain deletion-blocked-by-finalizer PersistentVolumeClaim shop/data waiting", ebsMounted(going(snapshots+", kubernetes.io/pvc-protection").Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))}, ""},
		{row{"a subPath in a pod where nothing ever ran", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume", subPath("restartCount: 0,")}, "pod shop/web-0"},
		{row{"a subPath of a variable that is not there", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume", subPath("restartCount: 0,").Drop("failed to prepare subPath").Edit("subPath: db", "subPathExpr: $(POD_NAME)").
			Edit("reason: CreateContainerConfigError", "reason: CreateContainerConfigError, message: missing value for POD_NAME")}, "pod shop/web-0"},
		{row{"a subPath in a pod that ran", "broken: possible subpath-bind-stale Pod shop/web-0; unexplained mount-failed; unexplained pod-waiting-for-volume", subPath("restartCount: 2,")}, "pod shop/web-0"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			ask := r.ask
			if ask == "" {
				ask = "pvc shop/data"
			}
			show(t, r.w, ask, r.want)
		})
	}
}

// TestSiblingsOfShares: file systems of clouds whose drivers name the server in their own way.
func TestSiblingsOfShares(t *testing.T) {
	t.Parallel()
	share := func(driver, handle, attributes, fs string) *world {
		return sketch.NewWorld(driver, handle, "accessModes: [ReadWriteMany]\nvolumeMode: Filesystem\ncsi: {driver: "+driver+", volumeHandle: '"+handle+"', volumeAttributes: {"+attributes+"}}").Waits()
	}
	mount := func(w *world, arguments, output string) *world {
		return w.FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = mount failed: exit status 32\nMounting command: mount\nMounting arguments: " + arguments + " " + w.Publish(0) + "\nOutput: " + output)
	}
	filestore := func() *world {
		return mount(share("filestore.csi.storage.gke.io", "modeInstance/b/i/vol1", "ip: 10.130.246.218, volume: vol1", ""), "-t nfs 10.130.246.218:/vol1", "mount.nfs: No route to host")
	}
	lustre := func(modules string) *world {
		w := share("fsx.csi.aws.com", "fs-0abc123", "dnsname: fs-0abc123.fsx.us-east-1.amazonaws.com, mountname: fsx", "")
		return mount(w.Entries("n1", "lib/modules/6.1.0-18-amd64/modules.dep", modules), "-t lustre fs-0abc123.fsx.us-east-1.amazonaws.com@tcp:/fsx", "mount.lustre: mount fs-0abc123.fsx.us-east-1.amazonaws.com@tcp:/fsx at "+w.Publish(0)+" failed: No such device")
	}
	for _, r := range []row{
		{"Filestore, the port was asked", "broken: certain nfs-server-unreachable Node n1", filestore().Entries("n1", "@dial/10.130.246.218:2049", "EHOSTUNREACH")},
		{"Filestore, the node was not looked at", "broken: likely nfs-server-unreachable Node n1", filestore().Unprobed("n1", "PodRejected")},
		{"a driver that nobody knows", "broken: likely nfs-server-unreachable Node n1", mount(share("nas.example.com", "h", "a: b", ""), "-t nfs 10.130.246.218:/vol1", "mount.nfs: Connection timed out")},
		{"a kernel without the file system", "broken: certain kernel-module-missing Node n1", lustre("kernel/fs/nfs/nfs.ko:")},
		{"a kernel that knows the file system, and no list of modules names it", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume", lustre("kernel/fs/nfs/nfs.ko:").Entries("n1", "proc/filesystems", "nodev\tlustre\n\text4")},
		{"a file system that is not loaded", "broken: certain kernel-module-missing Node n1", lustre("extra/lustre/lustre.ko:")},
		{"a key of blob storage", "broken: likely csi-credentials-wrong ServiceAccount kube-system/default", share("blob.csi.azure.com", "a_c", "containerName: c", "").FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = Mount failed with error: exit status 1 Error: failed to initialize new pipeline [failed to authenticate credentials for azstorage] , output: see http://aka.ms/blobmounterror for solutions for mount errors.")},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			show(t, r.w, "pvc shop/data", r.want)
		})
	}
}

// TestTunnelOfAManagedFileSystem asks that nobody is told to edit an export list that is none.
func TestTunnelOfAManagedFileSystem(t *testing.T) {
	t.Parallel()
	w := sketch.NewWorld("efs.csi.aws.com", "fs-0123::fsap-0456", "accessModes: [ReadWriteMany]\nvolumeMode: Filesystem\ncsi: {driver: efs.csi.aws.com, volumeHandle: 'fs-0123::fsap-0456'}").Waits()
	w.FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = Could not mount \"fs-0123:/\": mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t efs -o accesspoint=fsap-0456,tls fs-0123:/ " + w.Publish(0) + "\nOutput: b'mount.nfs4: access denied by server while mounting 127.0.0.1:/'")
	_, r := w.Verdict(t, Catalog(), "pvc shop/data")
	if len(r.RootCauses) == 0 {
		t.Fatal("no cause")
	}
	var steps []string
	for _, s := range r.RootCauses[0].Remedies {
		steps = append(steps, s.Title)
	}
	if said := strings.Join(steps, " "); strings.Contains(said, "exportfs") || !strings.Contains(said, "policy of the file system") {
		t.Errorf("the steps are %q", said)
	}
}

// TestShareOfACloud asks that export lists are named where somebody can edit them.
func TestShareOfACloud(t *testing.T) {
	t.Parallel()
	const list, root, cloud = "exportfs", "no_root_squash", "settings|the cloud keeps the rules"
	refused := func(w *world, server string) *world {
		return w.FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs " + server + " " + w.Publish(0) + "\nOutput: mount.nfs: access denied by server while mounting " + server)
	}
	squashed := func(w *world) *world {
		return w.FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : applyFSGroup failed for vol h: lchown " + w.Publish(0) + "/db: operation not permitted")
	}
	azure := func() *world {
		return sketch.NewWorld("file.csi.azure.com", "rg#acc#share#", "accessModes: [ReadWriteMany]\nvolumeMode: Filesystem\ncsi: {driver: file.csi.azure.com, volumeHandle: 'rg#acc#share#', volumeAttributes: {protocol: nfs, storageAccount: acc, shareName: share}}").Waits()
	}
	filestore := sketch.NewWorld("filestore.csi.storage.gke.io", "modeInstance/b/i/vol1", "accessModes: [ReadWriteMany]\nvolumeMode: Filesystem\ncsi: {driver: filestore.csi.storage.gke.io, volumeHandle: modeInstance/b/i/vol1, volumeAttributes: {ip: 10.130.246.218, volume: vol1}}").Waits()
	for name, c := range map[string]struct {
		w         *world
		says, not string
	}{
		"the driver of a cloud":                       {refused(azure(), "acc.file.core.windows.net:/acc/share"), cloud, list},
		"a name of a cloud, mounted by the kubelet":   {refused(inTreeNFS("fs-0123.efs.eu-west-1.amazonaws.com").Waits(), "fs-0123.efs.eu-west-1.amazonaws.com:/export/data"), cloud, list},
		"a server of one's own":                       {refused(nfs().Waits(), "10.9.0.5:/export/data"), list, cloud},
		"a server of one's own on a cloud's machine":  {refused(inTreeNFS("ec2-3-8-1-2.eu-west-2.compute.amazonaws.com").Waits(), "ec2-3-8-1-2.eu-west-2.compute.amazonaws.com:/export/data"), list, cloud},
		"a server of one's own with such a name":      {refused(inTreeNFS("amazonaws.com.corp.example").Waits(), "amazonaws.com.corp.example:/export/data"), list, cloud},
		"the driver of a cloud, and root is nobody":   {squashed(filestore), cloud, root},
		"a server of one's own, where root is nobody": {squashed(nfs().Waits()), root, cloud},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, r := c.w.Verdict(t, Catalog(), "pvc shop/data")
			if len(r.RootCauses) == 0 || r.RootCauses[0].Name != "nfs-access-denied" {
				t.Fatalf("%s, %v", r.Verdict, r.RootCauses)
			}
			var steps []string
			for _, s := range r.RootCauses[0].Remedies {
				steps = append(steps, s.Title)
			}
			said := strings.Join(steps, " ")
			has := func(any string) bool {
				for word := range strings.SplitSeq(any, "|") {
					if strings.Contains(said, word) {
						return true
					}
				}
				return false
			}
			if !has(c.says) || has(c.not) {
				t.Errorf("the steps are %q", said)
			}
		})
	}
}
