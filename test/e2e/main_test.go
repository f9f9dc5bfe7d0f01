// Package e2e asks the real binary, as a plugin of a real kubectl, about a real
// cluster: every scenario is a fault that was really made.
package e2e

import (
	"fmt"
	"os"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/test/e2e/internal/lab"
)

// cluster is the lab that the tests run in.
var cluster lab.Lab

func TestMain(m *testing.M) {
	var inside bool
	if cluster, inside = lab.FromEnvironment(); !inside {
		fmt.Fprintln(os.Stderr, "SKIP: the end-to-end tests did NOT run: start them with make e2e, which makes the cluster")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Scenarios run one after the other on one cluster: those that harm a node last.
func TestCluster(t *testing.T) {
	install(t, disk)
	for _, s := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"healthy claim", healthyClaim},
		{"device pinned by a private mount", pinnedDevice},
		{"faults that nothing tells of", hidden},
		{"passwords in a workload", canaries},
		{"rolling update over two nodes", rollingUpdate},
		{"refusals", refusals},
		{"faults of the driver", driverFaults},
		{"controller scaled to 0", controllerGone},
		{"two nodes with one host name", oneHostName},
		{"volume of Longhorn", longhornVolume},
		{"roles", roles},
		{"interruptions", interruptions},
		{"driver missing on a node", driverMissing},
		{"kubelet killed during the probe", kubeletKilled},
		{"kubelet dead and containers alive", kubeletDead},
		{"node powered off", nodeOff},
		{"node powered off during the probe", offMidRun},
	} {
		t.Run(s.name, s.run)
		nothingLeft(t)
	}
}
