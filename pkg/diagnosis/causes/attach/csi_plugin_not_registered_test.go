package attach_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/attach"
)

// TestPluginNotRegistered: a plugin that crashes or does not answer, with what it said last.
func TestPluginNotRegistered(t *testing.T) {
	t.Parallel()
	const root = "/var/lib/kubelet"
	const (
		runs    = "status: {phase: Running, containerStatuses: [{name: reg, ready: true, state: {running: {startedAt: '2026-01-01T11:30:00Z'}}}]}"
		serves  = "status: {phase: Running, conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: reg, ready: true, state: {running: {startedAt: '2026-01-01T11:30:00Z'}}}]}"
		crashes = "status: {phase: Running, conditions: [{type: Ready, status: 'False'}], containerStatuses: [{name: reg, ready: false, restartCount: 12, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, startedAt: '2026-01-02T11:58:00Z', finishedAt: '2026-01-02T11:58:02Z'}}}]}"
		young   = "status: {phase: Running, conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: reg, ready: true, state: {running: {startedAt: '2026-01-02T11:59:10Z'}}}]}"
	)
	back := func(waits, ended string) *sketch.Sketch { // its node became Ready a moment ago
		return plugged(root, "Pending").Edit("[{type: Ready, status: 'True'}]", "[{type: Ready, status: 'True', lastTransitionTime: '2026-01-02T11:59:20Z'}]").
			Edit(runs, "status: {phase: Running, containerStatuses: [{name: reg, ready: false, restartCount: 4, state: {waiting: {reason: "+waits+"}}, lastState: {terminated: {exitCode: 255, reason: Unknown, startedAt: '2026-01-01T11:30:00Z', finishedAt: '2026-01-02T11:"+ended+"Z'}}}]}")
	}
	unlisted := func(s *sketch.Sketch) *sketch.Sketch {
		return s.Edit("spec: {drivers: [{name: share.example.com, nodeID: n1}]}", "spec: {drivers: []}")
	}
	build := func(state string, events ...string) *sketch.Sketch {
		s := plugged(root, "Pending").Edit(runs, state)
		for _, e := range events {
			s.Add(failedMount(e))
		}
		return s
	}
	const unknown = `MountVolume.MountDevice failed for volume "pv-1" : kubernetes.io/csi: driver name share.example.com not found in the list of registered CSI drivers`
	const refused = `MountVolume.SetUp failed for volume "pv-1" : rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix /var/lib/kubelet/plugins/share.example.com/csi.sock: connect: connection refused"`
	const gone = `MountVolume.MountDevice failed for volume "pv-1" : rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix /var/lib/kubelet/plugins/share-old/csi.sock: connect: connection refused"`
	const said = `Jan  2 11:59:30 n1 kubelet[900]: E0102 11:59:30.1 900 nestedpendingoperations.go:348] Operation for "{volumeName:kubernetes.io/csi/share.example.com^nas-4711-export podName:w nodeName:}" failed. No retries permitted until 2026-01-02 12:01:32 +0000 UTC. Error: UnmountVolume.TearDown failed for volume "d" (UniqueName: "kubernetes.io/csi/share.example.com^nas-4711-export") pod "w" (UID: "w") : kubernetes.io/csi: Unmounter.TearDownAt failed: rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix /var/lib/kubelet/plugins/share-old/csi.sock: connect: connection refused"`
	const refusal = `E0102 11:58:02.0 1 main.go:123] Registration process failed with error: RegisterPlugin error -- plugin validation failed with err: validation failed for CSI Driver share.example.com at endpoint /var/lib/kubelet/plugins/share.example.com/csi.sock: kubernetes.io/csi: ValidatePlugin for CSI driver "share.example.com" failed. Another driver with the same name is already registered with a higher supported version: "1.0.0", restarting registration container.`
	other := sketch.New(`
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: shop, name: more, uid: c2}, spec: {volumeName: pv-2, accessModes: [ReadWriteMany]}, status: {phase: Bound}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-2}, spec: {accessModes: [ReadWriteMany], claimRef: {namespace: shop, name: more, uid: c2}, csi: {driver: share.example.com, volumeHandle: h-2}}}
---
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: late-0, uid: w2, creationTimestamp: '2026-01-02T11:59:10Z'}
spec: {nodeName: n1, containers: [{name: app, image: i}], volumes: [{name: d, persistentVolumeClaim: {claimName: more}}]}
status: {phase: Running, containerStatuses: [{name: app, ready: true, state: {running: {startedAt: '2026-01-02T11:59:30Z'}}}]}
`).Objects
	plugin := func(state string) []string {
		return []string{
			"proc/900/comm", "kubelet", "proc/900/cmdline", "/usr/bin/kubelet␀--root-dir=" + root + "␀", "proc/900/cgroup", "0::/system.slice/kubelet.service",
			"proc/900/ns/mnt", "@link mnt:[4026531841]", "proc/900/status", "Name:\tkubelet\nState:\tS (sleeping)\nPid:\t900\nPPid:\t1\nUid:\t0\t0\t0\t0",
			"proc/800/comm", "share", "proc/800/cgroup", "0::/kubepods.slice/kubepods-podb30107b1_71de_574e_b7c8_d066624f460f.slice/cri-containerd-c1.scope",
			"proc/800/ns/mnt", "@link mnt:[4026539999]", "proc/800/status", "Name:\tshare\nState:\t" + state + "\nPid:\t800\nPPid:\t1\nUid:\t0\t0\t0\t0",
			"proc/800/stat", "800 (share) " + state[:1] + " 1 800 800 0 -1 4194560 0 0 0 0 10 10 0 0 20 0 1 0 1000 0 0 18446744073709551615",
		}
	}
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   []string
		says   string
	}{
		"crashing, with its last words": {unlisted(build(crashes)).File("logs/kube-system/share-node-1/reg.previous.log", "I0102 11:58:01.0 1 main.go:9] starting\nF0102 11:58:02.0 1 main.go:40] no route to 169.254.169.254"),
			[]string{"certain Pod share-node-1"}, "169.254.169.254"},
		"crashing, CSINode still lists it":                          {build(crashes, unknown), []string{"certain Pod share-node-1"}, "CrashLoopBackOff"},
		"content and unknown, the kubelet's directory was not seen": {unlisted(build(serves)), []string{"likely Pod share-node-1"}, ""},
		"content and unknown, the same directory":                   {unlisted(build(serves)).Node("n1", plugin("S (sleeping)")...), []string{"certain Pod share-node-1"}, ""},
		"started a moment ago":                                      {unlisted(build(young)), []string{"possible Pod share-node-1 waiting"}, ""},
		"its node came back a moment ago":                           {unlisted(back("ContainerCreating", "59:00")), []string{"certain Pod share-node-1 waiting"}, "only just started"},
		"its node came back a moment ago, and it crashes":           {unlisted(back("CrashLoopBackOff", "59:00")), []string{"certain Pod share-node-1"}, "CrashLoopBackOff"},
		"its node came back, and it ended since":                    {unlisted(back("ContainerCreating", "59:40")), []string{"certain Pod share-node-1"}, ""},
		"registered, and nobody answers":                            {build(serves, refused), []string{"likely Pod share-node-1"}, "nobody answers"},
		"an older plugin registered, and went":                      {build(serves, gone).Node("n1", append(plugin("S (sleeping)"), "var/lib/kubelet/plugins_registry/share.example.com-reg.sock", "@socket", "var/lib/kubelet/plugins_registry/share.example.com.sock", "@socket")...), []string{"certain Pod share-node-1"}, "at /var/lib/kubelet/plugins/share-old/csi.sock, where nobody listens"},
		"it has to unmount, and an older plugin is called": {build(serves).Edit("volumeHandle: h-1", "volumeHandle: nas-4711-export").Edit("uid: w,", "uid: w, deletionTimestamp: '2026-01-02T11:50:00Z',").Node("n1", append(plugin("S (sleeping)"), "var/log/syslog", said,
			"var/lib/kubelet/plugins_registry/share.example.com-reg.sock", "@socket", "var/lib/kubelet/plugins_registry/share.example.com.sock", "@socket")...), []string{"certain Pod share-node-1"}, "where nobody listens"},
		"the kubelet refuses its registration":               {build(serves, gone).File("logs/kube-system/share-node-1/reg.log", refusal), []string{"certain Pod share-node-1"}, "a plugin that registered there before"},
		"another driver's name has its name in it":           {build(serves, gone).Node("n1", append(plugin("S (sleeping)"), "var/lib/kubelet/plugins_registry/share.example.com-reg.sock", "@socket", "var/lib/kubelet/plugins_registry/share.example.com-ssd-reg.sock", "@socket", "var/lib/kubelet/plugins_registry/old-share.example.com-reg.sock", "@socket", "var/lib/kubelet/plugins/share-old/csi.sock", "@socket")...), []string{}, ""},
		"its driver calls another one":                       {build(serves, gone).Node("n1", append(plugin("S (sleeping)"), "var/lib/kubelet/plugins_registry/share.example.com-reg.sock", "@socket", "var/lib/kubelet/plugins/share-old/csi.sock", "@socket")...), []string{}, ""},
		"registered, and stopped":                            {build(serves, refused).Node("n1", plugin("T (stopped)")...), []string{"certain Pod share-node-1"}, ""},
		"registered, and its container ends again and again": {build(crashes, refused), []string{"certain Pod share-node-1"}, "as its container reg waits: CrashLoopBackOff"},
		"registered, and only the registrar ends":            {build(strings.Replace(crashes, "name: reg", "name: node-driver-registrar", 1), refused), []string{"likely Pod share-node-1"}, "nobody answers there."},
		"registered, and one beside its driver ends":         {build(strings.Replace(crashes, "[{name: reg", "[{name: share, ready: true, state: {running: {startedAt: '2026-01-01T11:30:00Z'}}}, {name: csi-addons", 1), refused), []string{"likely Pod share-node-1"}, "nobody answers there."},
		"registrar and driver end":                           {unlisted(build(strings.Replace(crashes, "[{name: reg", "[{name: registrar, ready: false, state: {waiting: {reason: CrashLoopBackOff}}}, {name: reg", 1))), []string{"certain Pod share-node-1"}, "its container reg waits"},
		"started since":                                      {build(young, refused), []string{}, ""},
		"another pod got a volume since":                     {build(serves, refused).Add(other...), []string{}, ""},
		"registered, another failure":                        {build(serves, `MountVolume.SetUp failed for volume "pv-1" : rpc error: code = Internal desc = exit status 32`), []string{}, ""},
		"CSINode may not be read":                            {unlisted(build(serves)).Gap("api/storage.k8s.io/csinodes", "Forbidden").Edit("kind: CSINode", "kind: Nothing"), []string{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.sketch.Ask(t, "pod shop/web-0", attach.CSIPluginNotRegistered)
			if diff := cmp.Diff(c.want, sketch.Causes(r)); diff != "" {
				t.Fatalf("causes mismatch (-want +got):\n%s", diff)
			}
			if c.says != "" && !strings.Contains(r.RootCauses[0].Message, c.says) {
				t.Errorf("the message does not say %q: %s", c.says, r.RootCauses[0].Message)
			}
		})
	}
}
