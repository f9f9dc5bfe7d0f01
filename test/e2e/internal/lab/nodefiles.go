package lab

import (
	"os"
	"strings"
)

// restrict_oom_score_adj: without CAP_SYS_RESOURCE runc may not lower a
// sandbox's score and dies with "can't get final child's PID from pipe: EOF".
const containerdForm = `version = 2
root = "NODE/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs", "io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.opt"]
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "PAUSE"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "NODE/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
`

// Evictions by disk use are off: the disk is the machine's.
const kubeletForm = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: ADDRESS
healthzPort: 0
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: PKI/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: PKI/kubelet-NAME.crt
tlsPrivateKeyFile: PKI/kubelet-NAME.key
cgroupDriver: cgroupfs
cgroupRoot: /GROUP
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
failSwapOn: false
registerNode: true
clusterDomain: cluster.local
clusterDNS: [10.96.0.10]
resolvConf: ""
evictionHard: {memory.available: 1Mi, nodefs.available: 0%, nodefs.inodesFree: 0%, imagefs.available: 0%, imagefs.inodesFree: 0%}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
imageMinimumGCAge: 1000h
nodeStatusUpdateFrequency: 5s
volumeStatsAggPeriod: 10s
syncFrequency: 10s
`

const networkForm = `{"cniVersion": "0.4.0", "name": "lab", "plugins": [{"type": "ptp", "ipMasq": false, "ipam": {
  "type": "host-local", "dataDir": "/run/cni-ipam", "ranges": [[{"subnet": "PODS"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
`

// writeNodeFiles writes the configuration of the node's programs.
func (l Lab) writeNodeFiles(n Node) error {
	fill := strings.NewReplacer("NODE", l.nodePath(n.Name), "PAUSE", pauseImage, "ADDRESS", n.IP, "PKI", l.path("pki"),
		"NAME", n.Name, "GROUP", l.group(n.Name), "PODS", n.Pods)
	for file, form := range map[string]string{
		"containerd.toml": containerdForm, "kubelet.yaml": kubeletForm, "cni/10-lab.conflist": networkForm,
	} {
		if err := os.WriteFile(l.nodePath(n.Name, file), []byte(fill.Replace(form)), 0o644); err != nil {
			return err
		}
	}
	return nil
}
