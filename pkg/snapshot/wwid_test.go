package snapshot

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// TestWWIDsOfSerials: the serial that Trident notes is a part of the LUN's NAA id
// (NetApp/trident#941 quotes both).
func TestWWIDsOfSerials(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meta map[string]string
		want []string
	}{
		"a serial of ONTAP":      {map[string]string{"iscsiLunSerial": "81LgM$V4waSp"}, []string{"600a098038314c674d24563477615370"}},
		"an id":                  {map[string]string{"wwn": "60002ac000000000000000160001dc17"}, []string{"60002ac000000000000000160001dc17"}},
		"an id in JSON":          {map[string]string{"publishInfo": `{"tgtLunWWN":"6a8ffba1002f40f1b3b5a3d500000001","tgtHostLUNs":["1"]}`}, []string{"6a8ffba1002f40f1b3b5a3d500000001"}},
		"a serial of another":    {map[string]string{"iscsiLunSerial": "6c8379f4"}, nil},
		"twelve letters of what": {map[string]string{"iscsiIgroup": "ocp-w1-group"}, nil},
	} {
		v := &Volume{PV: &corev1.PersistentVolume{}, Attachments: []*storagev1.VolumeAttachment{{Status: storagev1.VolumeAttachmentStatus{AttachmentMetadata: c.meta}}}}
		if got := v.WWIDs(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
