package snapshot

// AttachmentName is the name of the VolumeAttachment of a CSI volume on a node,
// and the id of Longhorn's csi ticket.
func AttachmentName(handle, driver, node string) string { return "" }
