# Mounts that nobody sees any more, and mounts that are not what they seem.

scenario private-namespace
engine_up
attach
stage_mount
process exporter "$(pod_group $exporter_uid 4)" private node_exporter infinity
umount "$stage"
format ext4
examine
end $pid_exporter
detach

scenario mount-detached
engine_up
attach
stage_mount && publish_mount
cp /bin/sleep "$publish/reader"
(cd "$publish" && in_group "$(pod_group "$pod_uid" 3)" app infinity) &
wait_for started app
umount -l "$publish"
umount -l "$stage"
format ext4
examine
end $(pgrep -x app)
wait_for ended app
detach

scenario new-disk-old-mount
engine_up
attach
stage_mount && publish_mount && pod_up
sync
detach
wait_for disk_gone
attach
examine
end $pid_app
unmount
detach
