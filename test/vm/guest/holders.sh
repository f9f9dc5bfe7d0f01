# What takes a disk before it can be mounted.

scenario healthy
engine_up
attach
stage_mount && publish_mount && pod_up
examine
end $pid_app
unmount
detach

scenario multipath-claims
engine_up
attach
stage_mount && unmount
detach
multipathd_up "$claiming"
attach
wait_for taken
udevadm settle -t 10
stage_mount
examine
multipath_away
detach

scenario multipath-daemon-gone
engine_up
multipathd_up "$claiming"
attach
wait_for taken
multipathd_down
stage_mount
examine

# Longhorn's engine goes: the session ends, the map stays without a path.
continue_as multipath-map-orphaned
map=$(cat /sys/block/"$disk"/holders/*/dev 2>/dev/null || cat /sys/block/dm-*/dev)
fact map "$map"
detach
sleep 1
examine
multipath_away

scenario multipath-wwid-remembered
engine_up
attach
wwid=$(/lib/udev/scsi_id -g -u -d "/dev/$disk")
stage_mount && unmount
detach
multipathd_up "$careful" "$wwid"
attach
wait_for taken
stage_mount
examine
multipath_away
detach

scenario multipath-excluded
engine_up
multipathd_up "$excluding"
attach
sleep 3
stage_mount && publish_mount && pod_up
examine
end $pid_app
unmount
detach
multipath_away

scenario lvm
engine_up 128M
attach
pvcreate -q -ff -y "/dev/$disk" && vgcreate -q guests "/dev/$disk" && lvcreate -q -y -n data -l 100%FREE guests
vgchange -q -an guests
detach
attach
vgchange -q -aay guests
stage_mount
examine
vgchange -q -an guests
detach

scenario md
engine_up 128M
attach
mdadm --create /dev/md0 --run --level=1 --raid-devices=2 --metadata=1.2 --homehost=guest "/dev/$disk" missing
stage_mount
examine
mdadm --stop /dev/md0
detach

scenario luks
engine_up 128M
attach
printf secret | cryptsetup -q luksFormat --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 "$device" -
printf secret | cryptsetup luksOpen "$device" "$volume" -
mkfs.ext4 -q "/dev/mapper/$volume"
mount "/dev/mapper/$volume" "$stage" && publish_mount && pod_up
examine
end $pid_app
unmount
cryptsetup close "$volume"
detach
