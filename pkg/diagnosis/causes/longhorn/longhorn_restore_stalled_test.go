package longhorn

import "testing"

func TestRestoreStalled(t *testing.T) {
	t.Parallel()
	target := lhAPI + "BackupTarget\nmetadata: {name: default, namespace: longhorn-system}\nstatus: {available: true}\n"
	backup := lhAPI + "Backup\nmetadata: {name: backup-1, namespace: longhorn-system}\nstatus: {state: Completed}\n"
	restoring := func() *scene {
		s := newScene().add("target", target).add("backup", backup)
		s.edit("volume", "spec: {", "spec: {fromBackup: 's3://b@r/?backup=backup-1&volume=v', ")
		s.edit("volume", "ownerID: n1,", "ownerID: n1, restoreRequired: true,")
		s.edit("engine", "desireState: running,", "desireState: running, requestedBackupRestore: backup-1,")
		return s.edit("engine", "currentState: stopped", "currentState: running, restoreStatus: {'tcp://10.1.0.1:1': {isRestoring: false, progress: 0, error: ''}}")
	}
	limit := func(n string) string {
		return lhAPI + "Setting\nmetadata: {name: concurrent-volume-backup-restore-per-node-limit, namespace: longhorn-system}\nvalue: '" + n + "'\n"
	}
	other := lhAPI + "Engine\nmetadata: {name: w-e-0, namespace: longhorn-system}\nspec: {volumeName: w, nodeID: n1}\nstatus: {currentState: running, restoreStatus: {'tcp://10.1.0.2:1': {isRestoring: true, progress: 5}}}\n"
	found := []string{"certain Volume " + vol}
	check(t, RestoreStalled, []branch{
		{"it has not begun, and nothing is wrong", restoring(), silent},
		{"the backup is gone", restoring().drop("backup"), found},
		{"backups were not read", restoring().drop("backup").file("snapshot.yaml", gapped("api/longhorn.io/backups")), silent},
		{"the target was not read", restoring().drop("backup").drop("target"), silent},
		{"the backup is gone, and engines were not read", restoring().drop("backup").drop("engine").file("snapshot.yaml", gapped("api/longhorn.io/engines")), []string{"likely Volume " + vol}},
		{"engines were not read", restoring().drop("engine").file("snapshot.yaml", gapped("api/longhorn.io/engines")), silent},
		{"the backup is gone and the restore goes on", restoring().drop("backup").edit("engine", "isRestoring: false", "isRestoring: true"), silent},
		{"the target is not available", restoring().edit("target", "available: true", "available: false"), found},
		{"the target is not available to a restore that is at it", restoring().edit("target", "available: true", "available: false").edit("engine", "isRestoring: false", "isRestoring: true"), []string{"likely Volume " + vol}},
		{"the target is not available, and all is there", restoring().edit("target", "available: true", "available: false").edit("engine", "isRestoring: false, progress: 0", "isRestoring: false, progress: 100").edit("engine", "requestedBackupRestore: backup-1,", ""), silent},
		{"a replica says why", restoring().edit("engine", "error: ''", "error: no such bucket"), found},
		{"all failed", restoring().edit("volume", "conditions: [", "conditions: [{type: Restore, status: 'False', reason: RestoreFailure, message: all}, "), found},
		{"none is allowed", restoring().add("limit", limit("0")), found},
		{"others are at it", restoring().add("limit", limit("1")).add("other", other), found},
		{"there is room", restoring().add("limit", limit("2")).add("other", other), silent},
		{"no restore", newScene(), silent},
	})
}

func gapped(need string) string {
	return "apiVersion: mountdoctor.io/v1alpha1\nkind: Snapshot\ntakenAt: '2026-01-02T12:00:00Z'\ngaps: [{need: " + need + ", reason: Forbidden}]\n"
}
