package local

import "testing"

func TestDatasetOfText(t *testing.T) {
	for said, want := range map[string]string{
		"zfs: mount failed err : cannot open 'tank/pvc-22bb': dataset does not exist": "tank pvc-22bb",
		// openebs/zfs-localpv#252
		"zfs get mountpoint failed, cannot open 'main/kang/auto-provisioner/can-a-volume-be-named': dataset does not exist": "main kang/auto-provisioner/can-a-volume-be-named",
		// filepath.EvalSymlinks names the first element that is missing
		"verifyMount: GetVolumePath failed lstat /dev/zvol/tank: no such file or directory":              "tank ",
		"verifyMount: GetVolumePath failed lstat /dev/zvol/tank/k8s/pvc-22bb: no such file or directory": "tank k8s/pvc-22bb",
		"verifyMount: GetVolumePath failed lstat /dev/zvol: no such file or directory":                   "",
	} {
		got := ""
		if m := dsOf.FindStringSubmatch(said); m != nil {
			got = m[1] + m[3] + " " + m[2] + m[4]
		}
		if got != want {
			t.Errorf("%s\n got %q\nwant %q", said, got, want)
		}
	}
}
