package remedy

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/report"

// DeleteShareManager restarts the NFS server of a Longhorn RWX volume.
func DeleteShareManager(namespace, volume, checked string) report.Remedy {
	return report.Remedy{
		Name: "delete-share-manager", Title: titled("Delete the share-manager pod of volume %s; longhorn-manager makes a new one.", volume),
		Commands: []string{Kubectl("-n", namespace, "delete", "pod", "share-manager-"+volume)},
		Risk:     Disruptive, Precondition: checked,
		Undo:   "none needed: it is recreated; NFS clients stall for 20 to 90 seconds",
		Verify: "the new pod is Ready and the ShareManager is running",
	}
}

// DeleteReplica removes a failed or empty replica of a Longhorn volume.
func DeleteReplica(namespace, replica, checked string) report.Remedy {
	return report.Remedy{
		Name: "delete-replica", Title: titled("Delete replica %s.", replica),
		Commands: []string{Kubectl("-n", namespace, "delete", "replicas.longhorn.io", replica)},
		Risk:     DataLoss, Precondition: checked, Undo: "none",
		Verify: "the volume keeps a healthy replica and rebuilds the missing one",
	}
}

// DeleteEngine removes the stale one of two active engines.
func DeleteEngine(namespace, engine, checked string) report.Remedy {
	return report.Remedy{
		Name: "delete-engine", Title: titled("Delete the stale engine %s.", engine),
		Commands: []string{Kubectl("-n", namespace, "delete", "engines.longhorn.io", engine)},
		Risk:     DataLoss, Precondition: checked, Undo: "none",
		Verify: "exactly one engine of the volume is active",
	}
}

// DeleteInstanceManager removes an instance manager that serves nothing.
func DeleteInstanceManager(namespace, name, checked string) report.Remedy {
	return report.Remedy{
		Name: "delete-instance-manager", Title: titled("Delete instance manager %s.", name),
		Commands: []string{Kubectl("-n", namespace, "delete", "instancemanagers.longhorn.io", name)},
		Risk:     Disruptive, Precondition: checked,
		Undo:   "none needed: it is recreated empty; every engine and replica in it dies",
		Verify: "the new instance manager is running",
	}
}
