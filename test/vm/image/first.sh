#!/bin/bash
# Process 1 of the virtual machine: reach the folder of the host, run its start
# script, switch off. What the tests do is not part of the image.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs tmpfs /tmp
mkdir -p /lab /dev/pts /dev/shm /run/lock
mount -t devpts devpts /dev/pts
modprobe 9pnet_virtio && modprobe 9p
if mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=none host /lab; then
	bash /lab/guest/start.sh >/dev/console 2>&1
else
	echo "VM: the folder of the host cannot be mounted" >/dev/console
fi
sync
echo 1 >/proc/sys/kernel/sysrq
echo o >/proc/sysrq-trigger
sleep 60
