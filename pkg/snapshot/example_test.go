package snapshot_test

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// A program that reads a capture: what is in it, what could not be had, and where the
// volume of a claim is mounted.
func Example() {
	s, err := snapshot.Load("../../testdata/cases/founding-multipathd-busy")
	if err != nil {
		fmt.Println(err)
		return
	}
	x := snapshot.NewIndex(s)
	for _, v := range x.Volumes {
		ns, name := v.ClaimRef()
		if name != "judge-wal-restore" {
			continue
		}
		fmt.Printf("%s/%s is volume %s of %s\n", ns, name, v.PVName(), v.Driver)
		for _, node := range x.DeviceNodes(v) {
			if d, ok := x.DeviceOn(v, node); ok {
				fmt.Printf("on %s it is %s, mounted %d times\n", node, d.Block.Name, len(x.VolumeMounts(v, node)))
			}
		}
	}
	fmt.Println(len(s.Gaps), "things could not be had")
	// Output:
	// judge/judge-wal-restore is volume pvc-3b0f9a4e-6c21-4c39-9d0e-5b7f2f6f1a90 of driver.longhorn.io
	// on stor-2 it is sdd, mounted 0 times
	// 0 things could not be had
}
