# Filesystems that cannot be used as they are, and an outage that left none.

scenario filesystem-damaged
engine_up
attach
stage_mount && unmount
debugfs -w -R 'clri <2>' "$device" 2>/dev/null
stage_mount
examine
detach

scenario filesystem-full
engine_up
attach
stage_mount && publish_mount && pod_up
dd if=/dev/zero of="$publish/fill" bs=1M 2>"$out/refused"
sync
examine
end $pid_app
unmount
detach

scenario target-short-outage
engine_up
attach
stage_mount && publish_mount && pod_up
engine_down
wait_for disk_is blocked
targets_up
engine_up
wait_for session_is LOGGED_IN
wait_for disk_is running
touch "$publish/new" && sync
examine
end $pid_app
unmount
detach
