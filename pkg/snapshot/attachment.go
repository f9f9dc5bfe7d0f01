package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
)

// AttachmentName is the name of the VolumeAttachment of a CSI volume on a node,
// and the id of Longhorn's csi ticket: see getAttachmentName in
// pkg/volume/csi/csi_attacher.go of Kubernetes.
func AttachmentName(handle, driver, node string) string {
	return "csi-" + hashHex(handle+driver+node)
}

func hashHex(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
