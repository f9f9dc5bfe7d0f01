package sketch

import (
	"fmt"
	"slices"
	"strings"
)

// machine adds a node and the recording of a machine on which nothing is wrong.
func (w *World) machine(i int) {
	n := fmt.Sprintf("n%d", i)
	w.Add(fmt.Sprintf(`
apiVersion: v1
kind: Node
metadata: {name: n%[1]d, uid: 'f0000000-0000-4000-8000-00000000000%[1]d', creationTimestamp: '2025-11-01T08:00:00Z', labels: {kubernetes.io/hostname: n%[1]d, kubernetes.io/os: linux, kubernetes.io/arch: amd64}}
spec: {podCIDR: 10.42.1%[1]d.0/24}
status:
  addresses: [{type: InternalIP, address: 10.0.0.1%[1]d}, {type: Hostname, address: n%[1]d}]
  conditions: [{type: Ready, status: 'True', reason: KubeletReady, lastTransitionTime: '2025-12-23T12:00:00Z', lastHeartbeatTime: '2026-01-02T11:59:40Z'}]
  nodeInfo: {kernelVersion: 6.1.0-18-amd64, osImage: Debian GNU/Linux 12 (bookworm), kubeletVersion: v1.31.2, containerRuntimeVersion: 'containerd://1.7.22', architecture: amd64, operatingSystem: linux, bootID: 'b0000000-0000-4000-8000-00000000000%[1]d', machineID: 'c000000000004000800000000000000%[1]d'}
  volumesInUse: [NAME-USED-n%[1]d]
  volumesAttached: [NAME-ATTACHED-n%[1]d]
`, i))
	w.files[n] = []string{
		"@clock", fmt.Sprintf("2026-01-02T12:00:00Z\n%d.00", Boot), "@hostname", n, "proc/sys/kernel/hostname", n,
		"proc/sys/kernel/osrelease", "6.1.0-18-amd64", "proc/uptime", fmt.Sprintf("%d.00 1000000.00", Boot),
		"etc/os-release", "ID=debian\nVERSION_ID=\"12\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"",
		"proc/filesystems", "nodev\tsysfs\nnodev\ttmpfs\nnodev\tproc\nnodev\toverlay\nnodev\tnfs\nnodev\tnfs4\nnodev\tcifs\nnodev\tceph\n\text4\n\txfs",
		"proc/modules", "nfs 28672 0 - Live 0x0\ncifs 28672 0 - Live 0x0\nceph 28672 0 - Live 0x0\nlibceph 28672 0 - Live 0x0\nrbd 28672 0 - Live 0x0\nfuse 28672 0 - Live 0x0\noverlay 28672 0 - Live 0x0",
		"lib/modules/6.1.0-18-amd64/modules.dep", "kernel/fs/nfs/nfs.ko:", "lib/modules/6.1.0-18-amd64/modules.builtin", "kernel/fs/ext4/ext4.ko",
		"proc/swaps", "Filename\tType\tSize\tUsed\tPriority",
		"@kmsg", "6,1,100,-;Linux version 6.1.0-18-amd64",
		"dev/sda", "@device block 8:0", "dev/sda2", "@device block 8:2",
		"sys/class/block/sda/dev", "8:0", "sys/class/block/sda/size", "524288000", "sys/class/block/sda/ro", "0", "sys/class/block/sda/holders", "@dir",
		"sys/class/block/sda/device/state", "running", "sys/class/block/sda/device/vendor", "QEMU", "sys/class/block/sda/device/model", "QEMU HARDDISK",
		"sys/class/block/sda2/dev", "8:2", "sys/class/block/sda2/partition", "2",
		"sys/fs/ext4/sda2/errors_count", "0",
		"@statfs/var/lib/kubelet", "62500000 40000000 40000000 16000000 15000000 4096",
		"@multipathd/show maps json", "ECONNREFUSED",
	}
	for _, tool := range []string{"cryptsetup", "fsck.ext4", "mkfs.ext4", "mkfs.xfs", "mount.nfs", "mount.cifs"} {
		w.files[n] = append(w.files[n], "usr/sbin/"+tool, "@hex\n7f454c46")
	}
	for pid, comm := range map[int]string{1: "systemd", 433: "systemd-journal", 467: "systemd-udevd", 804: "containerd", 911: "kubelet", 1203: "sshd"} {
		p, unit := fmt.Sprintf("proc/%d/", pid), comm+".service"
		cgroup, line := "0::/system.slice/"+unit, "/usr/bin/"+comm+"␀"
		switch comm {
		case "systemd":
			cgroup, line = "0::/init.scope", "/sbin/init␀"
		case "kubelet":
			line = "/usr/bin/kubelet␀--config=/var/lib/kubelet/config.yaml␀"
		}
		w.files[n] = append(w.files[n], p+"comm", comm, p+"cgroup", cgroup, p+"cmdline", line, p+"ns/mnt", "@link mnt:[4026531841]",
			p+"stat", fmt.Sprintf("%d (%s) S 1 %d %d 0 -1 4194560 0 0 0 0 10 10 0 0 20 0 1 0 1000 0 0 18446744073709551615", pid, comm, pid, pid),
			p+"status", fmt.Sprintf("Name:\t%s\nState:\tS (sleeping)\nTgid:\t%d\nPid:\t%d\nPPid:\t1\nUid:\t0\t0\t0\t0\nNSpid:\t%d", comm, pid, pid, pid))
	}
}

// table is the mount table of process 1 with further lines.
func (w *World) table(more string) string {
	var b strings.Builder
	b.WriteString("21 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw\n22 21 0:22 / /proc rw shared:12 - proc proc rw\n23 21 0:23 / /sys rw shared:7 - sysfs sysfs rw\n24 21 0:5 / /dev rw shared:2 - devtmpfs udev rw\n25 21 0:26 / /run rw shared:5 - tmpfs tmpfs rw\n")
	for i, l := range strings.Split(more, "\n") {
		if l != "" {
			fmt.Fprintf(&b, "%d 21 %s\n", 100+i, l)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Attaches tells whether volumes of the driver are attached before they are mounted.
func (w *World) Attaches() bool {
	return slices.ContainsFunc([]string{"rbd", "ebs.csi.aws", "iscsi", "linstor", "san", "disk", "topolvm", "cinder", "vsphere", "pd.csi", "mayastor"},
		func(d string) bool { return strings.Contains(w.Driver, d) })
}

// driver adds what a driver consists of: its object, its plugin on every node, its controller.
func (w *World) driver() {
	w.Add(fmt.Sprintf(`
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: %s, uid: '30000000-0000-4000-8000-000000000001', creationTimestamp: '2025-11-01T08:00:00Z'}
spec: {attachRequired: %t, podInfoOnMount: true, fsGroupPolicy: ReadWriteOnceWithFSType, volumeLifecycleModes: [Persistent]}
`, w.Driver, w.Attaches()), `
apiVersion: apps/v1
kind: DaemonSet
metadata: {namespace: kube-system, name: plugin, uid: '40000000-0000-4000-8000-000000000001', creationTimestamp: '2025-11-01T08:00:00Z'}
spec: {selector: {matchLabels: {app: plugin}}, template: {metadata: {labels: {app: plugin}}, spec: {containers: [{name: driver, image: 'registry.example/driver:v1'}]}}}
status: {desiredNumberScheduled: 3, currentNumberScheduled: 3, numberReady: 3, numberAvailable: 3}
`, fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {namespace: kube-system, name: controller-0, uid: '60000000-0000-4000-8000-000000000001', creationTimestamp: '2025-11-07T13:25:00Z', labels: {app: controller}}
spec: {nodeName: n3, containers: [{name: csi-provisioner, image: 'registry.k8s.io/sig-storage/csi-provisioner:v5.0.1', args: [--csi-address=/csi/csi.sock, --leader-election]}, {name: csi-attacher, image: 'registry.k8s.io/sig-storage/csi-attacher:v4.6.1', args: [--csi-address=/csi/csi.sock]}, {name: csi-resizer, image: 'registry.k8s.io/sig-storage/csi-resizer:v1.11.1', args: [--csi-address=/csi/csi.sock]}, {name: driver, image: 'registry.example/driver:v1', args: ['--drivername=%s']}]}
status: {phase: Running, startTime: '2025-11-07T13:25:00Z', conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: csi-provisioner, ready: true, restartCount: 0, state: {running: {startedAt: '2025-11-07T13:25:00Z'}}}, {name: csi-attacher, ready: true, restartCount: 0, state: {running: {startedAt: '2025-11-07T13:25:00Z'}}}, {name: csi-resizer, ready: true, restartCount: 0, state: {running: {startedAt: '2025-11-07T13:25:00Z'}}}, {name: driver, ready: true, restartCount: 0, state: {running: {startedAt: '2025-11-07T13:25:00Z'}}}]}
`, w.Driver))
	for i := 1; i <= 3; i++ {
		w.Add(fmt.Sprintf(`
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: n%d, uid: '70000000-0000-4000-8000-00000000000%d'}
spec: {drivers: [{name: %s, nodeID: n%d, topologyKeys: null}]}
`, i, i, w.Driver, i), fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {namespace: kube-system, name: plugin-%[1]d, uid: '5000c0de-0000-4000-8000-00000000000%[1]d', creationTimestamp: '2025-11-07T13:25:00Z', labels: {app: plugin}, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: plugin, uid: '40000000-0000-4000-8000-000000000001', controller: true}]}
spec:
  nodeName: n%[1]d
  hostNetwork: true
  containers:
  - {name: node-driver-registrar, image: 'registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.10.1', args: [--csi-address=/csi/csi.sock, --kubelet-registration-path=/var/lib/kubelet/plugins/%[2]s/csi.sock], volumeMounts: [{name: socket-dir, mountPath: /csi}, {name: registration-dir, mountPath: /registration}]}
  - {name: driver, image: 'registry.example/driver:v1', args: ['--endpoint=unix:///csi/csi.sock', '--drivername=%[2]s'], securityContext: {privileged: true}, volumeMounts: [{name: socket-dir, mountPath: /csi}, {name: kubelet-dir, mountPath: /var/lib/kubelet, mountPropagation: Bidirectional}, {name: modules, mountPath: /lib/modules}, {name: dev, mountPath: /dev}]}
  volumes: [{name: socket-dir, hostPath: {path: /var/lib/kubelet/plugins/%[2]s, type: DirectoryOrCreate}}, {name: registration-dir, hostPath: {path: /var/lib/kubelet/plugins_registry, type: Directory}}, {name: kubelet-dir, hostPath: {path: /var/lib/kubelet, type: Directory}}, {name: modules, hostPath: {path: /lib/modules}}, {name: dev, hostPath: {path: /dev}}]
status: {phase: Running, startTime: '2025-11-07T13:25:00Z', conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: node-driver-registrar, ready: true, restartCount: 0, state: {running: {startedAt: '2025-11-07T13:25:00Z'}}}, {name: driver, ready: true, restartCount: 0, state: {running: {startedAt: '2025-11-07T13:25:00Z'}}}]}
`, i, w.Driver))
		n := fmt.Sprintf("n%d", i)
		w.Entries(n, "var/lib/kubelet/plugins_registry/"+w.Driver+"-reg.sock", "@socket", "var/lib/kubelet/plugins/"+w.Driver+"/csi.sock", "@socket")
		w.Process(n, 4100, fmt.Sprintf("5000c0de-0000-4000-8000-00000000000%d", i), "driver", 4026532500, "")
	}
}
