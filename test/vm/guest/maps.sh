# A volume that is well, and what multipathd does with its disk.

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
cure
continue_as multipath-cured
sleep 3 # a daemon that still wants the disk would have it again
stage_mount && publish_mount && pod_up
examine
end $pid_app
unmount
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
wait_for disk_gone
udevadm settle -t 10
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
