package snapshot

// Devices returns the volume's devices on all probed nodes, by node.
func (x *Index) Devices(v *Volume) []VolumeDevice { return nil }

// DeviceOn returns the volume's device on a node.
func (x *Index) DeviceOn(v *Volume, node string) (VolumeDevice, bool) { return VolumeDevice{}, false }
