# What else takes a disk before it can be mounted.

scenario lvm
engine_up 128M
attach
pvcreate -q -ff -y "/dev/$disk" && vgcreate -q guests "/dev/$disk" && lvcreate -q -y -n data -l 100%FREE guests
vgchange -q -an guests 2>/dev/null
detach
attach
vgchange -q -aay guests
stage_mount
examine
cure
vgchange -q -an guests 2>/dev/null
detach

scenario md
engine_up 128M
attach
mdadm --create /dev/md0 --run --level=1 --raid-devices=2 --metadata=1.2 --homehost=guest "/dev/$disk" missing
stage_mount
examine
cure
mdadm --stop /dev/md0 2>/dev/null
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

scenario exclusive-opener
engine_up
attach
stage_mount && unmount
in_group "$(pod_group $exporter_uid 4)" python3 -c "
import os, time
os.open('$device', os.O_RDWR | os.O_EXCL)
open('/run/opened', 'w')
time.sleep(1000)" &
opener=$!
wait_for test -e /run/opened
stage_mount
examine
end $opener
detach
