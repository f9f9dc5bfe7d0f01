package causes

const (
	cryptCase, cryptVol = "encrypted-mapper-outlives-its-disk", "pvc-95b8cb3e-32f8-55f4-ba8f-494818d7d37a"
	mdCase              = "restored-raid-member-assembled-by-host"
	claimCase           = "snapshot-driver-claims-new-disk"
	heldCase            = "shell-of-an-administrator-in-the-volume"
	rootCase            = "log-agent-with-private-host-root"
	nameCase            = "golden-image-kept-its-host-name"
	mpathCase           = "multipathd-waits-for-the-second-path"
)

var siblingsOfHolders = []sibling{
	{cryptCase, "the mapper lies over the present disk", []edit{
		{"nodes/vault-2.txtar", "-- sys/class/block/dm-0/slaves --\n@dir\n", "-- sys/class/block/dm-0/slaves/sdd --\n@link ../../../sdd\n"},
		{"nodes/vault-2.txtar", "-- sys/class/block/sdd/holders --\n@dir\n", "-- sys/class/block/sdd/holders/dm-0 --\n@link ../../../dm-0\n"},
		{"nodes/vault-2.txtar", "-- @content/253:0 --\n@error EIO", "-- @content/253:0 --\nTYPE=ext4\nSTATE=clean"},
	}, ""},
	{cryptCase, "the old mapping is mounted in a namespace of somebody else", []edit{
		{"nodes/vault-2.txtar", "", "-- proc/7001/comm --\nbackupd\n-- proc/7001/cgroup --\n0::/system.slice/backupd.service\n-- proc/7001/ns/mnt --\n@link mnt:[4026539001]\n-- proc/7001/status --\nName:\tbackupd\nState:\tS (sleeping)\nTgid:\t7001\nPid:\t7001\nPPid:\t1\nUid:\t0\t0\t0\t0\n-- proc/7001/mountinfo --\n900 1 8:2 / / rw,relatime - ext4 /dev/sda2 rw\n901 900 253:0 / /mnt/ledger rw,relatime - ext4 /dev/mapper/" + cryptVol + " rw\n"},
	}, "certain mount-pinned-in-namespace Process 7001"},
	{cryptCase, "one mount table could not be read", []edit{
		{"nodes/vault-2.txtar", "", "-- proc/7001/comm --\nbackupd\n-- proc/7001/cgroup --\n0::/system.slice/backupd.service\n-- proc/7001/ns/mnt --\n@link mnt:[4026539001]\n-- proc/7001/mountinfo --\n@error EACCES\n"},
	}, "likely crypt-mapper-stale Device 253:0"},
	{cryptCase, "the sessions of the node could not be read", []edit{
		{"nodes/vault-2.txtar", "iqn.2019-10.io.longhorn:" + cryptVol, "@error EIO"},
		{"nodes/vault-2.txtar", "-- dev/longhorn/" + cryptVol + " --\n@device block 8:48\n", ""},
	}, "likely crypt-mapper-stale Device 253:0"},
	{mdCase, "the array is mounted on purpose", []edit{
		{"nodes/hv-3.txtar", "25 21 0:26 / /run", "90 21 9:127 / /mnt/rescue rw,relatime shared:99 - ext4 /dev/md127 rw\n25 21 0:26 / /run"},
	}, "certain device-held-by-process Device 8:32"},
	{mdCase, "the array lies over another disk", []edit{
		{"nodes/hv-3.txtar", "sys/class/block/md127/slaves/sdc", "sys/class/block/md127/slaves/sdz"},
		{"nodes/hv-3.txtar", "-- sys/class/block/sdc/holders/md127 --\n@link ../../../../virtual/block/md127\n", "-- sys/class/block/sdc/holders --\n@dir\n"},
		{"nodes/hv-3.txtar", "-- @claim/8:32 --\nEBUSY", "-- @claim/8:32 --\nfree"},
	}, "certain filesystem-type-mismatch PersistentVolume pvc-c22e847a-6ff2-5415-9b2f-80ebdfdcdba1"},
	{mdCase, "the node was not looked at", []edit{
		{"nodes/hv-3.txtar", "", cut}, {"snapshot.yaml", "gaps: []", "gaps:\n- {need: node/hv-3, reason: PodRejected}"},
	}, ""},
	{claimCase, "free by now", []edit{{"nodes/app-12.txtar", "-- @claim/8:32 --\nEBUSY", "-- @claim/8:32 --\nfree"}}, ""},
	{claimCase, "swapped on", []edit{{"nodes/app-12.txtar", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/dev/sdc                                partition\t10485756\t0\t\t-2"}}, "certain device-held-by-process Device 8:32"},
	{claimCase, "exported by the kernel's target", []edit{{"nodes/app-12.txtar", "", "-- sys/kernel/config/target/core/iblock_0/mail/udev_path --\n/dev/sdc\n-- sys/kernel/config/target/core/iblock_0/mail/enable --\n1\n"}}, "certain device-held-by-process Device 8:32"},
	{claimCase, "held by bcache", []edit{{"nodes/app-12.txtar", "-- sys/class/block/sdc/holders --\n@dir\n", "-- sys/class/block/sdc/holders/bcache0 --\n@link ../../../../virtual/block/bcache0\n"}}, "likely device-claimed-by-unknown Device 8:32"},
	{claimCase, "one mount table could not be read", []edit{{"nodes/app-12.txtar", "", "-- proc/7001/comm --\nagent\n-- proc/7001/cgroup --\n0::/system.slice/agent.service\n-- proc/7001/ns/mnt --\n@link mnt:[4026539001]\n-- proc/7001/mountinfo --\n@error EACCES\n"}}, "possible device-claimed-by-unknown Device 8:32"},
	{claimCase, "no exclusive open was tried", []edit{{"nodes/app-12.txtar", "-- @claim/8:32 --\nEBUSY\n", ""}}, ""},
	{heldCase, "the shell only has the disk open", []edit{
		{"nodes/erp-1.txtar", "-- @dev/proc/31877/cwd --\n8:32\n", ""}, {"nodes/erp-1.txtar", "-- proc/31877/cwd --\n", "-- proc/31877/fd/3 --\n@link /dev/sdc\n-- proc/31877/old --\n"},
	}, ""},
	{heldCase, "the shell has left and its descriptors cannot be read", []edit{
		{"nodes/erp-1.txtar", "-- @dev/proc/31877/cwd --\n8:32\n", "-- @dev/proc/31877/cwd --\n@error EACCES\n"}, {"nodes/erp-1.txtar", "-- proc/31877/cwd --\n", "-- proc/31877/cwd --\n@error EACCES\n-- proc/31877/fd --\n@error EACCES\n-- proc/31877/old --\n"},
	}, ""},
	{heldCase, "the shell stands beside the mount", []edit{
		{"nodes/erp-1.txtar", "-- @dev/proc/31877/cwd --\n8:32\n", "-- @dev/proc/31877/cwd --\n8:2\n"},
	}, ""},
	{rootCase, "the copies follow the host after all", []edit{{"nodes/edge-2.txtar", "/hostfs ro,relatime - ext4", "/hostfs ro,relatime master:1 - ext4"}}, ""},
	{rootCase, "the node was not looked at", []edit{{"nodes/edge-2.txtar", "", cut}, {"snapshot.yaml", "gaps: []", "gaps:\n- {need: node/edge-2, reason: PodRejected}"}}, "likely host-root-mounted-privately Pod host-agent-f64f2"},
	{rootCase, "only the logs of the host", []edit{{"cluster/core.yaml", "hostPath: {path: /, type: ''}", "hostPath: {path: /var/log, type: ''}"}}, ""},
	{nameCase, "each has an identifier of its own", []edit{
		{"nodes/metal-01.txtar", "nfs4_unique_id --\n\n", "nfs4_unique_id --\n4c6f8a10-metal-01\n"}, {"nodes/metal-02.txtar", "nfs4_unique_id --\n\n", "nfs4_unique_id --\n4c6f8a10-metal-02\n"},
	}, ""},
	{nameCase, "one of the two was not looked at", []edit{{"nodes/metal-02.txtar", "", cut}, {"snapshot.yaml", "gaps: []", "gaps:\n- {need: node/metal-02, reason: PodRejected}"}}, ""},
	{mpathCase, "a blacklist in conf.d", []edit{{"nodes/st-1.txtar", "", "-- etc/multipath/conf.d/longhorn.conf --\nblacklist {\n    device {\n        vendor \"IET\"\n        product \"VIRTUAL-DISK\"\n    }\n}\n"}}, ""},
	{mpathCase, "the configuration could not be read", []edit{{"nodes/st-1.txtar", "-- etc/multipath.conf --\n", "-- etc/multipath.conf --\n@error EACCES\n-- srv/old --\n"}, {"nodes/st-1.txtar", "-- @multipathd/show config local --\n", "-- @multipathd/show config local --\nECONNREFUSED\n-- srv/config --\n"}}, ""},
	{mpathCase, "the daemon does not run", []edit{{"nodes/st-1.txtar", "-- proc/611/comm --\nmultipathd", "-- proc/611/comm --\nsleep"}, {"nodes/st-1.txtar", "/sbin/multipathd␀-d␀-s␀", "sleep␀"}, {"nodes/st-1.txtar", "-- @multipathd/show maps json --\n", "-- @multipathd/show maps json --\nECONNREFUSED\n-- srv/maps --\n"}, {"nodes/st-1.txtar", "-- @multipathd/show config local --\n", "-- @multipathd/show config local --\nECONNREFUSED\n-- srv/config --\n"}, {"nodes/st-1.txtar", "multipathd.service", "sleep.service"}, {"nodes/st-1.txtar", "(multipathd)", "(sleep)"}, {"nodes/st-1.txtar", "Name:\tmultipathd", "Name:\tsleep"}}, ""},
}
