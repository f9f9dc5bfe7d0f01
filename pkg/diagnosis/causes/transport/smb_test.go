package transport_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/transport"
)

// shared is a share whose mount ended with some words of mount.cifs.
func shared(output string) *sketch.Sketch {
	return sketch.New(`
apiVersion: v1
kind: Node
metadata: {name: n1}
`, `
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1}
spec:
  accessModes: [ReadWriteMany]
  claimRef: {namespace: shop, name: data, uid: c1}
  csi: {driver: smb.csi.k8s.io, volumeHandle: nas-data, volumeAttributes: {source: //10.0.0.5/data}, nodeStageSecretRef: {namespace: shop, name: smb-user}}
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
metadata: {namespace: shop, name: db-0, uid: p1, creationTimestamp: '2026-01-02T11:30:00Z'}
spec: {nodeName: n1, volumes: [{name: d, persistentVolumeClaim: {claimName: data}}], containers: [{name: app, image: i}]}
status: {phase: Pending, containerStatuses: [{name: app, state: {waiting: {reason: ContainerCreating}}}]}
`, `
apiVersion: v1
kind: Pod
metadata: {namespace: kube-system, name: csi-smb-node-x, uid: p2}
spec: {nodeName: n1, hostNetwork: true, containers: [{name: node-driver-registrar, image: i, args: [--kubelet-registration-path=/var/lib/kubelet/plugins/smb.csi.k8s.io/csi.sock]}]}
status: {phase: Running}
`, `
apiVersion: v1
kind: Event
metadata: {namespace: shop, name: e1}
involvedObject: {kind: Pod, namespace: shop, name: db-0, uid: p1}
type: Warning
reason: FailedMount
message: "MountVolume.MountDevice failed for volume \"pv-1\" : rpc error: code = Internal desc = volume(nas-data) mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t cifs -o vers=3.0 //10.0.0.5/data /var/lib/kubelet/plugins/x/globalmount\nOutput: `+output+`"
lastTimestamp: '2026-01-02T11:59:00Z'
source: {component: kubelet, host: n1}
`)
}

// logged is the kernel's log of one attempt, a minute old; the clock starts a day ago.
func logged(lines ...string) string {
	var b strings.Builder
	b.WriteString("6,1,100,-;Linux version 6.1\n6,2,86340000000,-;CIFS: Attempting to mount //10.0.0.5/data\n")
	for _, l := range lines {
		b.WriteString("3,3,86340100000,-;" + l + "\n")
	}
	return b.String()
}

// old is the same of a kernel before 4.20, which does not print how an attempt begins.
func old(lines ...string) string {
	return strings.Replace(logged(lines...), "6,2,86340000000,-;CIFS: Attempting to mount //10.0.0.5/data\n", "", 1)
}

func TestSMB(t *testing.T) {
	t.Parallel()
	const dial, refused, node, secret, pv = "@dial/10.0.0.5:445", "mount error(13): Permission denied", "Node n1", "Secret smb-user", "PersistentVolume pv-1"
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   []string
	}{
		"the kernel lacks a cipher": {shared("mount error(2): No such file or directory").Node("n1", dial, "ok 1ms", "@kmsg", logged(
			`CIFS: VFS: \\10.0.0.5 smb3_crypto_aead_allocate: Failed alloc encrypt aead`, `CIFS: VFS: \\10.0.0.5 SMB2_negotiate: crypto alloc failed, rc=-2`,
			"CIFS: VFS: cifs_mount failed w/return code = -2")), []string{}},
		"no connection":                 {shared("mount error(113): No route to host").Node("n1", dial, "EHOSTUNREACH"), []string{"certain " + node}},
		"no connection, nobody dialled": {shared("mount error(115): Operation now in progress"), []string{"likely " + node}},
		"no connection, it answers now": {shared("mount error(115): Operation now in progress").Node("n1", dial, "ok 1ms"), []string{}},
		"the plugin's own network":      {shared("mount error(115): Operation now in progress").Edit("hostNetwork: true, ", "").Node("n1", dial, "timeout 3s"), []string{"likely " + node}},
		"names what it tried":           {shared("mount error(111): could not connect to 10.0.0.5"), []string{"certain " + node}},
		"wrong password":                {shared(refused).Node("n1", "@kmsg", logged("CIFS: Status code returned 0xc000006d STATUS_LOGON_FAILURE", `CIFS: VFS: \\10.0.0.5 Send error in SessSetup = -13`)), []string{"certain " + secret}},
		"wrong password, an old kernel": {shared(refused).Node("n1", "@kmsg", old("Status code returned 0xc000006d NT_STATUS_LOGON_FAILURE", `CIFS VFS: \\10.0.0.5 Send error in SessSetup = -13`, "CIFS VFS: cifs_mount failed w/return code = -13")), []string{"certain " + secret}},
		"old, and it names no server":   {shared(refused).Node("n1", "@kmsg", old("Status code returned 0xc000006d NT_STATUS_LOGON_FAILURE", "CIFS VFS: Send error in SessSetup = -13", "CIFS VFS: cifs_mount failed w/return code = -13")), []string{"likely " + secret}},
		"no right":                      {shared(refused).Node("n1", "@kmsg", logged("CIFS: Status code returned 0xc0000022 STATUS_ACCESS_DENIED")), []string{"certain " + pv}},
		"refused, no log":               {shared(refused), []string{"likely " + secret}},
		"another server's status":       {shared(refused).Node("n1", "@kmsg", logged(`CIFS: VFS: \\10.9.9.9 STATUS_LOGON_FAILURE`)), []string{"likely " + secret}},
		"no such share":                 {shared("mount error(2): No such file or directory").Node("n1", dial, "ok 1ms", "@kmsg", logged(`CIFS: VFS:  BAD_NETWORK_NAME: \\10.0.0.5\data`)), []string{"certain " + pv}},
		"no such directory on it": {shared("mount error(2): No such file or directory").Edit("{source: //10.0.0.5/data}", "{source: //10.0.0.5/data, subDir: a/b}").Edit("-o vers=3.0 //10.0.0.5/data ", "-o vers=3.0 //10.0.0.5/data/a/b ").
			Node("n1", dial, "ok 1ms", "@kmsg", strings.Replace(logged("CIFS: Status code returned 0xc0000034 STATUS_OBJECT_NAME_NOT_FOUND"), "mount //10.0.0.5/data", "mount //10.0.0.5/data/a/b", 1)), []string{"certain " + pv}},
		"2, it answers, no log": {shared("mount error(2): No such file or directory").Node("n1", dial, "ok 1ms"), []string{"likely " + pv}},
		"2, nobody dialled":     {shared("mount error(2): No such file or directory"), []string{"possible " + pv}},
		"2, and it is blocked":  {shared("mount error(2): No such file or directory").Node("n1", dial, "timeout 3s"), []string{"certain " + node}},
		"another dialect":       {shared("mount error(95): Operation not supported"), []string{"likely " + pv}},
		"not from mount.cifs":   {shared("Permission denied"), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.sketch.Ask(t, "pvc shop/data", transport.SMBAccessDenied, transport.SMBMountRefused, transport.SMBServerUnreachable)
			if diff := cmp.Diff(c.want, sketch.Causes(r)); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
