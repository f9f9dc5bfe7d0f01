#!/bin/bash
# Make the guest look like a Kubernetes node with Longhorn on it, then run the
# scenarios of this boot (boot= on the kernel command line).
hostname vm-node
ip link set lo up
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount --make-rshared / # as systemd leaves it
/lib/systemd/systemd-udevd --daemon
udevadm trigger --type=devices --action=add --subsystem-match=block --subsystem-match=misc
udevadm settle -t 20
boot=$(sed -n 's/.*boot=\([^ ]*\).*/\1/p' /proc/cmdline)
. /host/guest/node.sh
. /host/guest/volume.sh
. /host/guest/multipath.sh
. /host/guest/examine.sh
node_up
. "/host/guest/$boot.sh"
echo "VM: $boot finished after $(cut -d' ' -f1 /proc/uptime) s"
touch "/host/out/finished"
