package causes

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

const (
	bound     = "status: {phase: Bound, accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}"
	refusedBy = `rpc error: code = InvalidArgument desc = Could not modify volume (invalid argument) "vol-0a1": api error UnknownVolumeType: Unsupported volume type 'io3' for volume creation.`
)

// changing is a volume that works, whose claim wants a class of attributes and has another one;
// status is what the resizer wrote.
func changing(want, have, status string) *world {
	w := ebsMounted(ebs().Runs(0), "n1", 0).Answers("n1", ebs().Publish(0)).Attached("n1")
	for _, c := range []string{"gp3-fast", "io3-class"} {
		w.Add("{apiVersion: storage.k8s.io/v1, kind: VolumeAttributesClass, metadata: {name: " + c + "}, driverName: ebs.csi.aws.com, parameters: {type: gp3}}")
	}
	if want != "" {
		w.Edit("volumeMode: Filesystem, storageClassName: fast, volumeName", "volumeMode: Filesystem, storageClassName: fast, volumeAttributesClassName: "+want+", volumeName")
	}
	if have != "" {
		status = ", currentVolumeAttributesClassName: " + have + status
	}
	return w.Edit(bound, bound+status)
}

// tried is the status of the last attempt, with conditions.
func tried(status, target string, conditions ...string) string {
	return ", modifyVolumeStatus: {status: " + status + ", targetVolumeAttributesClassName: " + target + "}, conditions: [" + strings.Join(conditions, ", ") + "]"
}

func condition(name, at, message string) string {
	return "{type: " + name + ", status: 'True', lastTransitionTime: '2026-01-02T" + at + "Z', message: '" + strings.ReplaceAll(message, "'", "''") + "'}"
}

func failed(w *world, at, message string) *world {
	return w.Event("PersistentVolumeClaim", "data", "c0000000-0000-4000-8000-000000000001", "VolumeModifyFailed", "external-resizer ebs.csi.aws.com", "", "2026-01-02T"+at+"Z", message)
}

// TestAttributesOfAVolume: a change of the attributes of a volume that works, with the shapes
// of external-resizer 1.13 (one condition) and 1.14 and later (two).
func TestAttributesOfAVolume(t *testing.T) {
	t.Parallel()
	const pending = "degraded: unexplained modification-pending"
	under := condition("ModifyingVolume", "11:30:00", "ModifyVolume operation in progress.")
	showEach(t, map[string]shown{
		"has what it wants":              {changing("gp3-fast", "gp3-fast", ""), "healthy"},
		"infeasible":                     {failed(changing("io3-class", "gp3-fast", tried("Infeasible", "io3-class", under, condition("ModifyVolumeError", "11:30:00", "ModifyVolume failed with error: "+refusedBy+". Waiting for retry."))), "11:57:00", refusedBy), pending},
		"infeasible, in one condition":   {changing("io3-class", "", tried("Infeasible", "io3-class", condition("ModifyingVolume", "11:30:00", "ModifyVolume failed with error"+refusedBy+". Waiting for retry."))), pending},
		"infeasible, the user went back": {changing("gp3-fast", "gp3-fast", tried("Infeasible", "io3-class", under)), "healthy"},
		"infeasible, nothing wanted now": {changing("", "", tried("Infeasible", "io3-class")), "healthy"},
		"under way":                      {changing("io3-class", "gp3-fast", tried("InProgress", "io3-class", condition("ModifyingVolume", "11:59:00", "ModifyVolume operation in progress."))), "waiting"},
		"under way, and refused already": {failed(changing("io3-class", "gp3-fast", tried("InProgress", "io3-class", condition("ModifyingVolume", "11:59:00", "ModifyVolume operation in progress."))), "11:59:30", "rpc error: code = Internal desc = Could not modify volume"), pending},
		"under way for half an hour":     {changing("io3-class", "gp3-fast", tried("InProgress", "io3-class", under)), pending},
		"going back for half an hour":    {changing("gp3-fast", "gp3-fast", tried("InProgress", "io3-class", under)), pending},
		"a status of a later release":    {changing("io3-class", "gp3-fast", tried("Queued", "io3-class", under)), pending},
		"nobody has begun":               {changing("io3-class", "gp3-fast", ""), pending},
		"no such class":                  {failed(changing("io9", "gp3-fast", ", modifyVolumeStatus: {status: Pending}"), "11:59:00", `VAC "io9" does not exist.`), pending},
		"no such class, and nobody says": {changing("io9", "gp3-fast", ", modifyVolumeStatus: {status: Pending}"), pending},
		"classes were not read":          {changing("io9", "gp3-fast", ", modifyVolumeStatus: {status: Pending}").Gap("api/storage.k8s.io/volumeattributesclasses", "Forbidden"), pending},
		"the account may not": {failed(changing("io3-class", "gp3-fast", tried("InProgress", "io3-class", under)), "11:58:00", `rpc error: code = Internal desc = Could not modify volume "vol-0a1": api error UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::1:assumed-role/ebs/1 is not authorized to perform: ec2:ModifyVolume`),
			"degraded: certain csi-credentials-wrong ServiceAccount kube-system/default"},
		"the last change is not through": {failed(changing("io3-class", "gp3-fast", tried("InProgress", "io3-class", under)), "11:58:00", `rpc error: code = Internal desc = Could not modify volume "vol-0a1": volume "vol-0a1" in OPTIMIZING state, cannot currently modify`),
			"waiting: likely backend-throttled PersistentVolumeClaim shop/data waiting"},
		"a rate of changes": {failed(changing("io3-class", "gp3-fast", tried("InProgress", "io3-class", under)), "11:58:00", `rpc error: code = Internal desc = Could not modify volume "vol-0a1": api error VolumeModificationRateExceeded: You have reached the maximum modification rate per volume limit. Wait at least 6 hours between modifications per EBS volume.`),
			"waiting: certain backend-throttled PersistentVolumeClaim shop/data waiting"},
		"an old failure, and a success":    {failed(changing("gp3-fast", "gp3-fast", ""), "11:55:00", refusedBy), "healthy"},
		"a class that no volume ever gets": {changing("", "gp3-fast", ""), "healthy"},
	})
}

// TestAttributesWithoutAResizer: nobody acts on the change, and why is known.
func TestAttributesWithoutAResizer(t *testing.T) {
	t.Parallel()
	const ready = "{name: csi-resizer, ready: true, restartCount: 0, state: {running: {startedAt: '2025-11-07T13:25:00Z'}}}"
	down := func(w *world) *world {
		return w.Edit(ready, "{name: csi-resizer, ready: false, restartCount: 9, state: {waiting: {reason: CrashLoopBackOff}}}")
	}
	const mute = "degraded: certain resizer-not-working PersistentVolumeClaim shop/data"
	const pending = "degraded: unexplained modification-pending"
	showEach(t, map[string]shown{
		"not begun":             {down(changing("io3-class", "gp3-fast", "")), mute},
		"begun":                 {down(changing("io3-class", "gp3-fast", tried("InProgress", "io3-class"))), mute},
		"the driver refused":    {down(failed(changing("io3-class", "gp3-fast", tried("InProgress", "io3-class")), "11:40:00", refusedBy)), pending},
		"no such class":         {down(changing("io9", "gp3-fast", "")), pending},
		"classes were not read": {down(changing("io9", "gp3-fast", "")).Gap("api/storage.k8s.io/volumeattributesclasses", "Forbidden"), pending},
		"events were not read":  {down(changing("io3-class", "gp3-fast", tried("InProgress", "io3-class"))).Gap("api//events", "Forbidden"), pending},
		"it grew, and was half done": {down(changing("gp3-fast", "gp3-fast", "")).EditIn("kind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: data", "requests: {storage: 10Gi}", "requests: {storage: 20Gi}").
			EditIn("kind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: data", "capacity: {storage: 10Gi}", "capacity: {storage: 10Gi}, conditions: [{type: Resizing, status: 'True', lastTransitionTime: '2026-01-02T09:00:00Z'}]"), mute},
		"it has what it asks of": {down(changing("gp3-fast", "gp3-fast", "")), "healthy"},
	})
}

// TestAttributesAreSaid: the report names the class, who refuses in whose words, and a class that is not there.
func TestAttributesAreSaid(t *testing.T) {
	t.Parallel()
	says := func(w *world) report.Unexplained {
		_, r := w.Verdict(t, Catalog(), "pvc shop/data")
		if len(r.Unexplained) != 1 {
			t.Fatalf("%d symptoms without a cause", len(r.Unexplained))
		}
		return r.Unexplained[0]
	}
	for name, c := range map[string]struct {
		w       *world
		message string
		next    string
	}{
		"refused by the driver": {
			failed(changing("io3-class", "gp3-fast", tried("Infeasible", "io3-class")), "11:57:00", refusedBy),
			"The driver ebs.csi.aws.com refuses to give claim shop/data the attributes of VolumeAttributesClass io3-class: the attributes of gp3-fast stay in force.",
			"kubectl get volumeattributesclass io3-class -o yaml",
		},
		"no such class": {
			failed(changing("io9", "", ", modifyVolumeStatus: {status: Pending}"), "11:59:00", `VAC "io9" does not exist.`),
			"Claim shop/data asks for VolumeAttributesClass io9, which does not exist: it keeps the attributes that it was made with.", "kubectl -n shop describe pvc data",
		},
		"the driver hangs": {
			failed(changing("io3-class", "gp3-fast", tried("InProgress", "io3-class")), "11:57:00", "rpc error: code = DeadlineExceeded desc = context deadline exceeded. Still modifying to VAC io3-class"),
			"and does not answer in time: until it does, the attributes of gp3-fast stay in force.", "logs controller-0 -c csi-resizer",
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := says(c.w)
			if !strings.Contains(u.Message, c.message) || u.Answer != "" {
				t.Errorf("says %q, %q", u.Message, u.Answer)
			}
			commands := ""
			for _, n := range u.Next {
				for _, k := range n.Commands {
					commands += k + "\n"
				}
			}
			if !strings.Contains(commands, c.next) {
				t.Errorf("looks next:\n%s", commands)
			}
			if u.Step != "modify" {
				t.Errorf("stops at %s", u.Step)
			}
		})
	}
}
