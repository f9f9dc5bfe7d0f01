package agent

import (
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/blockdev"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/content"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/devnode"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/hostfiles"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/identity"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kubelet"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mountns"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/multipath"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/nvme"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/openfiles"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/process"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/rbd"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/reach"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/superblock"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/swap"
)

// Probes are all probes in the order in which they run: later ones read what
// earlier ones found.
var Probes = []Probe{
	{"identity", 3 * time.Second, identity.Run},
	{"process", 20 * time.Second, process.Run},
	{"mountns", 20 * time.Second, mountns.Run},
	{"blockdev", 10 * time.Second, blockdev.Run},
	{"devnode", 10 * time.Second, devnode.Run},
	{"swap", 3 * time.Second, swap.Run},
	{"hostfiles", 20 * time.Second, hostfiles.Run},
	{"kubelet", 10 * time.Second, kubelet.Run},
	{"iscsi", 10 * time.Second, iscsi.Run},
	{"nvme", 5 * time.Second, nvme.Run},
	{"rbd", 5 * time.Second, rbd.Run},
	{"multipath", 10 * time.Second, multipath.Run},
	{"nfs", 10 * time.Second, nfs.Run},
	{"kmsg", 10 * time.Second, kmsg.Run},
	{"reach", 15 * time.Second, reach.Run},
	{"superblock", 5 * time.Second, superblock.Run}, // late: an unmount that was under way is over by now
	{"openfiles", 20 * time.Second, openfiles.Run},
	{"content", 20 * time.Second, content.Run},
}
