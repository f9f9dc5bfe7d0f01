# The target dies under a mounted volume: first every access waits, then fails.

scenario target-dead-waiting
engine_up 128M
attach
stage_mount && publish_mount && pod_up
echo 40 >/sys/class/iscsi_session/session*/recovery_tmo
sync
(while :; do echo more >>"$publish/log"; sync -f "$publish"; sleep 0.3; done) >/dev/null 2>&1 &
writer=$!
sleep 2
engine_down
wait_for disk_is blocked
examine
fact state_after "$(cat "/sys/block/$disk/device/state")"
before=$out/facts

out=/host/out/target-dead-failed
mkdir -p "$out"
echo "VM: target-dead-failed at $(cut -d' ' -f1 /proc/uptime) s"
grep -E '^(volume|pod_uid|device|disk)=' "$before" >"$out/facts"
for wait in 1 2 3; do not_blocked || wait_for not_blocked && break; done
sleep 8
examine

kill -9 $writer
