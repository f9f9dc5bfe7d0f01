package remedy

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Fill says what to do until a Longhorn volume has its data.
func Fill(x *snapshot.Index, v *snapshot.LHVolume, f longhorn.Filling) []Step {
	var look []Command
	if f.Engine != nil {
		look = []Command{Kubectl("-n", v.Namespace, "get", "engines.longhorn.io", f.Engine.Name, "-o", "jsonpath={.status.restoreStatus}{.status.cloneStatus}")}
	}
	switch {
	case f.Failed():
		return []Step{Check("Read the message of the failure first: usually the backup target (address, credentials, a deleted backup) or the source of the clone. Restore or clone again into a new volume when it cannot go on.", look...)}
	case f.Kind == longhorn.Standby:
		return []Step{Words("Activate the disaster recovery volume in Longhorn when the original must be replaced, and wait until its last backup has been restored; a standby gets no PV and no pod before.")}
	case f.OnlyTime(x):
		return []Step{Check("Wait until it has ended; the volume attaches by itself. Look at the progress twice, ten minutes apart. Do not force its frontend on.", look...)}
	case f.Kind == longhorn.Clone:
		return []Step{Check("No replica is at it. Look whether the source of the clone can be attached, and at the last words of the longhorn-manager that owns the new volume. When it does not go on, delete the new claim, not the source, and clone again.", look...)}
	case f.Kind == longhorn.Activation:
		return []Step{Check("The activation ends when the last backup is restored on every replica of the record: a failed replica that is still attached to it holds it up. Look at failedAt of the replicas and at the backup target.", look...)}
	}
	return []Step{Check("Look at the progress twice, ten minutes apart, and at what the backup store and the way to it can carry. Do not force the frontend on.", look...)}
}
