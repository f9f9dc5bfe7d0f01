package causes

import (
	"strings"
	"testing"
)

// TestThinPools: a thin pool without free blocks is met by the filesystems that lie in it, whatever room they count.
func TestThinPools(t *testing.T) {
	t.Parallel()
	const spent, again = "60|device-mapper: thin: 253:5: switching pool to out-of-data-space (queue IO) mode", "30|device-mapper: thin: 253:5: switching pool to write mode"
	thin := func() *world {
		w := lvmLocal().Runs(0)
		point := strings.Replace(w.Publish(0), "pv-data", "pvc-11aa", 1)
		return w.Disk("n1", "dm-7", "253:7", "dm/name", "datavg-pvc--11aa", "dm/uuid", "LVM-abcdef", "slaves/dm-5", "@link ../../../dm-5").Entries("n1", "dev/datavg/pvc-11aa", "@device block 253:7").LiveExt4("n1", "dm-7").
			Disk("n1", "dm-5", "253:5", "dm/name", "datavg-pool-tpool", "dm/uuid", "LVM-abcdef-tpool", "holders/dm-7", "@link ../../../dm-7").Without("n1", "sys/class/block/dm-5/holders").Entries("n1", "sys/class/block/dm-5/holders/dm-7", "@link ../../../dm-7").
			Mounts("n1", "253:7 / "+point+" rw,relatime shared:300 - ext4 /dev/mapper/datavg-pvc--11aa rw").Answers("n1", point)
	}
	for _, r := range []row{
		{"the pool has room", "healthy", thin()},
		{"it has none", "broken: certain filesystem-full PersistentVolumeClaim shop/data", thin().Kernel("n1", spent)},
		{"it has got some", "healthy", thin().Kernel("n1", spent, again)},
		{"it is another pool", "healthy", thin().Kernel("n1", "60|device-mapper: thin: 253:9: switching pool to out-of-data-space (error IO) mode")},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			show(t, r.w, "pvc shop/data", r.want)
		})
	}
}
