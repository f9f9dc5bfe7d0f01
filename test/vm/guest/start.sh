#!/bin/bash
# Make the guest look like a Kubernetes node with Longhorn on it, then run the
# scenarios of this boot (boot= on the kernel command line).
hostname vm-node
machine=$(sed -n 's/.*machine=\([^ ]*\).*/\1/p' /proc/cmdline)
results=/lab/out
[ "$machine" != second ] || results=/lab/out/second
mkdir -p "$results"
ip link set lo up
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount --make-rshared / # as systemd leaves it
/lib/systemd/systemd-udevd --daemon
udevadm trigger --type=devices --action=add --subsystem-match=block --subsystem-match=misc
udevadm settle -t 20
boot=$(sed -n 's/.*boot=\([^ ]*\).*/\1/p' /proc/cmdline)
. /lab/guest/node.sh
. /lab/guest/volume.sh
. /lab/guest/multipath.sh
. /lab/guest/examine.sh
. /lab/guest/cure.sh
node_up
. "/lab/guest/$boot.sh"
echo "VM: $boot finished after $(cut -d' ' -f1 /proc/uptime) s"
touch "$results/finished"
