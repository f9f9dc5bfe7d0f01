# The target freezes, and later dies, under a mounted volume: first every access
# waits, then fails.
# When it comes back, the disk works again and the filesystem does not.

# pings_every SECONDS: how often sessions that are made from now on ask whether
# their target lives, and how long the answer may take; 0: never. With an interval of 0 alone the
# kernel takes 5 s (iscsi_conn_start, drivers/scsi/libiscsi.c).
pings_every() { sed -i "s/^\(node.conn\[0\].timeo.noop_out_\(interval\|timeout\)\) = .*/\1 = $1/" /etc/iscsi/iscsid.conf; }

scenario target-frozen
engine_up
pings_every 0
attach
pings_every 5
echo 300 >"/sys/block/$disk/device/timeout"
stage_mount && publish_mount && pod_up
sync
echo 3 >/proc/sys/vm/drop_caches
# Nobody notices: the disk still counts as running, and reads of it wait.
kill -STOP $(pgrep -x tgtd)
examine
kill -CONT $(pgrep -x tgtd)
wait_for session_is LOGGED_IN
wait_for disk_is running
end $pid_app
unmount
detach

scenario target-dead-waiting
engine_up 128M
attach
stage_mount && publish_mount && pod_up
echo 60 >/sys/class/iscsi_session/session*/recovery_tmo
sync
(while :; do echo more >>"$publish/log"; sync -f "$publish"; sleep 0.3; done) >/dev/null 2>&1 &
writer=$!
sleep 2
engine_down
wait_for disk_is blocked
examine
fact state_after "$(cat "/sys/block/$disk/device/state")"

continue_as target-dead-failed
for wait in 1 2 3; do not_blocked || wait_for not_blocked && break; done
sleep 8
examine

continue_as filesystem-aborted
targets_up
engine_up
wait_for session_is LOGGED_IN
wait_for disk_is running
sleep 2
touch "$publish/new" 2>"$out/refused"
examine
kill -9 $writer
