package filesystem_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
)

// encrypted is a host whose volume is opened with LUKS over the iSCSI disk.
func encrypted(phase corev1.PodPhase) *host {
	h := newHost(phase)
	h.pv.Spec.ISCSI = nil
	h.pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: "block.example", VolumeHandle: "disk7", VolumeAttributes: map[string]string{"iqn": iqn, "encrypted": "true"},
		NodeStageSecretRef: &corev1.SecretReference{Namespace: "store", Name: "keys"}}
	return h.typed("crypto_LUKS")
}

// typed sets what the first bytes of sdb are.
func (h *host) typed(what string) *host {
	h.f.Contents[sdb] = probes.Content{Type: what, State: "clean"}
	return h
}

func TestEncryptionKeyWrong(t *testing.T) {
	t.Parallel()
	stage := func(words string) string {
		return "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = " + words
	}
	noKey := stage("failed to open device with LUKS: cryptsetup [luksOpen /dev/sdb disk7]: exit status 2: No key available with this passphrase.")
	noPassphrase, provider := stage("missing passphrase for encrypted volume disk7"), stage("unsupported key provider vault for encrypted volume disk7")
	plain := stage("unsupported disk encryption format ext4")
	resize := "MountVolume.NodeExpandVolume failed for volume \"pv-data\" : failed to run cryptsetup resize: exit status 2: No key available with this passphrase."
	certain, likely := []string{"encryption-key-wrong certain PersistentVolume pv-data"}, []string{"encryption-key-wrong likely PersistentVolume pv-data"}
	unnamed := func(h *host) { h.pv.Spec.CSI.NodeStageSecretRef = nil }
	opened := func(h *host) {
		dm := probes.Dev{Major: 253}
		h.f.Block[1].Holders = []string{"dm-0"}
		h.f.Block = append(h.f.Block, probes.BlockDevice{Name: "dm-0", Dev: dm, Sectors: 1 << 20, Slaves: []string{"sdb"}, DM: &probes.DM{Name: "disk7", UUID: "CRYPT-LUKS2-abc-disk7"}})
	}
	checkRules(t, []*diagnosis.Rule{filesystem.EncryptionKeyWrong}, []branch{
		{"no slot opens", encrypted(corev1.PodPending).says(noKey), certain},
		{"the exit status of luksOpen (ceph-csi)", encrypted(corev1.PodPending).says(stage("an error (exit status 2) occurred while running cryptsetup args: [luksOpen /dev/sdb luks-rbd-disk7 --disable-keyring -d /dev/stdin]")), certain},
		{"the exit status of luksOpen (scaleway-csi)", encrypted(corev1.PodPending).says(stage("error luks opening device /dev/disk/by-id/scsi-0SCW_sbs_volume-7 (wrong passphrase?): exit status 2")), certain},
		{"another exit status: the device is in use", encrypted(corev1.PodPending).says(stage("an error (exit status 5) occurred while running cryptsetup args: [luksOpen /dev/sdb luks-rbd-disk7 --disable-keyring -d /dev/stdin]")), clean},
		{"first-hand words without the node", encrypted(corev1.PodPending).says(noKey).unprobed(), likely},
		{"no passphrase", encrypted(corev1.PodPending).says(noPassphrase), certain},
		{"unknown provider", encrypted(corev1.PodPending).says(provider), certain},
		{"plain filesystem, read", encrypted(corev1.PodPending).typed("ext4").says(plain), certain},
		{"plain filesystem, not read", encrypted(corev1.PodPending).says(plain).unprobed(), likely},
		{"called plain, and there is a header", encrypted(corev1.PodPending).says(plain), clean},
		{"the PV names no Secret, a header on the device", encrypted(corev1.PodPending).change(unnamed).says(stage("the volume cannot be staged")), certain},
		{"the same, and nobody refuses it", encrypted(corev1.PodPending).change(unnamed), clean},
		{"a cloud's own encryption", encrypted(corev1.PodPending).typed("ext4").change(unnamed).says(stage("the volume cannot be staged")), clean},
		{"a cloud's own encryption, node not seen", encrypted(corev1.PodPending).change(unnamed).says(stage("the volume cannot be staged")).unprobed(), clean},
		{"a Secret is named", encrypted(corev1.PodPending).says(stage("the volume cannot be staged")), clean},
		{"a resize", encrypted(corev1.PodPending).says(resize), clean},
		{"the mapper is open", encrypted(corev1.PodPending).says(noKey).change(opened), clean},
		{"the device cannot be read", encrypted(corev1.PodPending).says(noKey).change(func(h *host) { h.f.Contents[sdb] = probes.Content{Err: "EIO"} }), clean},
		{"its requests fail", encrypted(corev1.PodPending).says(noKey).log(1, kmsg.IOError, "I/O error, dev sdb, sector 0"), clean},
		{"the pod runs", encrypted(corev1.PodRunning).says(noKey), clean},
		{"no Secret at all", encrypted(corev1.PodPending).says(stage(`secrets "keys" not found`)), clean},
	})
}
