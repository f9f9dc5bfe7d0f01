package probes

import (
	"fmt"
	"strconv"
	"strings"
)

// Dev is a device number on one node. It is the only identity a block device
// has there: names are reused, paths are copied (see the kernel's MKDEV).
type Dev struct {
	Major, Minor uint32
}

// String prints the number the way mountinfo and sysfs do: "8:32".
func (d Dev) String() string { return fmt.Sprintf("%d:%d", d.Major, d.Minor) }

// IsZero tells whether no number is known (0:0 is never a device).
func (d Dev) IsZero() bool { return d == Dev{} }

// Anonymous tells whether the number belongs to no block device: NFS, overlay,
// btrfs, FUSE and tmpfs get numbers with major 0 (get_anon_bdev in fs/super.c).
func (d Dev) Anonymous() bool { return d.Major == 0 }

// ParseDev reads "MAJOR:MINOR".
func ParseDev(s string) (Dev, error) {
	major, minor, ok := strings.Cut(strings.TrimSpace(s), ":")
	if !ok {
		return Dev{}, fmt.Errorf("device number %q has no colon", s)
	}
	a, err := strconv.ParseUint(major, 10, 32)
	if err != nil {
		return Dev{}, fmt.Errorf("device number %q: bad major", s)
	}
	b, err := strconv.ParseUint(minor, 10, 32)
	if err != nil {
		return Dev{}, fmt.Errorf("device number %q: bad minor", s)
	}
	return Dev{uint32(a), uint32(b)}, nil
}

// MarshalText makes a Dev usable as a JSON string and map key.
func (d Dev) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (d *Dev) UnmarshalText(b []byte) error {
	v, err := ParseDev(string(b))
	if err == nil {
		*d = v
	}
	return err
}
