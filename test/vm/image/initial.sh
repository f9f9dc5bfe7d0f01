#!/bin/busybox sh
# The initramfs: load the drivers of the virtual disk, hand over to the root on it.
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev
# Some drivers are for other hardware and refuse.
while read -r name; do /bin/busybox insmod "/modules/$name" 2>/dev/null; done </modules/order
tries=0
while [ ! -b /dev/vda ] && [ $tries -lt 200 ]; do
	/bin/busybox usleep 50000
	tries=$((tries + 1))
done
/bin/busybox mount -t ext4 -o noatime /dev/vda /root || { echo "VM: no root file system"; /bin/busybox poweroff -f; }
for dir in proc sys dev; do /bin/busybox mount --move /$dir /root/$dir; done
exec /bin/busybox switch_root /root /sbin/first
