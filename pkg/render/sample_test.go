package render

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/report"

// sample is a report that uses every part: two roots, a nested finding, an
// unexplained symptom, noise and gaps.
func sample() *report.Report {
	pod := report.Subject{Kind: "Pod", Namespace: "shop", Name: "db-0", Node: "worker-2"}
	dev := report.Subject{Kind: "Device", Name: "8:32", Node: "worker-2"}
	return &report.Report{
		APIVersion: report.APIVersion, Kind: report.Kind,
		Subject: report.Subject{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data-db-0"},
		Verdict: report.Broken, TakenAt: "2026-05-04T10:00:00Z", Since: "2026-05-04T09:46:00Z",
		Summary:    "multipathd on node worker-2 holds sdc (8:32), the disk of volume pvc-5f1d8a2e-0000-4000-8000-1234567890ab, so nobody can mount it.",
		RootCauses: []report.Cause{sampleRoot(dev)},
		Findings: []report.Cause{{
			Name: "longhorn-share-manager-down", Certainty: report.Certain, Severity: report.Blocking, Layer: "longhorn",
			Subject: report.Subject{Kind: "ShareManager", Namespace: "longhorn-system", Name: "pvc-5f1d8a2e-0000-4000-8000-1234567890ab"},
			Message: "The share-manager restarts because it cannot mount the disk.", Explains: []string{},
			Evidence: []report.Evidence{}, Remedies: []report.Remedy{},
			ID: "longhorn-share-manager-down@ShareManager/longhorn-system/pvc-5f1d8a2e-0000-4000-8000-1234567890ab", CausedBy: "multipath-claims-device@Device/worker-2/8:32",
		}},
		Symptoms: []report.Symptom{{Name: "mount-busy", Subject: pod, Message: "already mounted or mount point busy",
			ExplainedBy: []string{"multipath-claims-device@Device/worker-2/8:32"}}},
		Unexplained: []report.Unexplained{{
			Symptom: report.Symptom{Name: "detach-stuck", Subject: report.Subject{Kind: "VolumeAttachment", Name: "csi-0123456789abcdef"},
				Message: "VolumeAttachment csi-0123456789abcdef is being deleted for 14m."},
			CouldBe: []report.CouldBe{{Cause: "mount-pinned-in-namespace", BlockedBy: "node/worker-3: NodeNotReady (kubelet stopped posting status 14m ago)"}},
		}},
		Noise: []report.Noise{{Name: "apparmor-ptrace", Subject: report.Subject{Kind: "Node", Name: "worker-2", Node: "worker-2"},
			Message: "AppArmor denies ptrace to 3 programs.", Because: "no mount or device is concerned"}},
		Chain: []report.Link{
			{Kind: "Pod", Name: "shop/db-0", State: "ContainerCreating", Since: "2026-05-04T09:46:00Z", Note: "on worker-2"},
			{Kind: "PersistentVolumeClaim", Name: "shop/data-db-0", State: "Bound", Since: "2026-03-24T10:00:00Z"},
			{Kind: "Device", Name: "worker-2/8:32 sdc", State: "held", Note: "holder dm-3 (mpatha)", Broken: true},
		},
		Timeline: []report.Moment{{At: "2026-05-04T09:46:00Z", What: "pod shop/db-0 created"}},
		NotChecked: []report.NotChecked{{Need: "node/worker-3", Node: "worker-3", Reason: "NodeNotReady",
			Detail: "kubelet stopped posting status 14m ago", Causes: []string{"mount-pinned-in-namespace"}}},
	}
}

func sampleRoot(dev report.Subject) report.Cause {
	return report.Cause{
		ID: "multipath-claims-device@Device/worker-2/8:32", Name: "multipath-claims-device", Certainty: report.Certain, Severity: report.Blocking, Layer: "device", Subject: dev,
		Message: "multipathd on node worker-2 made the map mpatha (dm-3) on sdc (8:32), the disk of volume " +
			"pvc-5f1d8a2e-0000-4000-8000-1234567890ab. The kernel refuses every exclusive open of the plain disk while the map exists.",
		Evidence: []report.Evidence{
			{Source: "node", Node: "worker-2", Locator: "sys/class/block/sdc/holders/dm-3", Text: "dm-3"},
			{Source: "event", Locator: "Event Pod shop/db-0 FailedMount", Text: "MountVolume.MountDevice failed for volume \"pvc-5f1d8a2e-0000-4000-8000-1234567890ab\" : " +
				"rpc error: code = Internal desc = mount failed: exit status 32\nMounting command: mount\nOutput: mount: /var/lib/kubelet/plugins/kubernetes.io/csi/driver.longhorn.io/" +
				"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef/globalmount: /dev/longhorn/pvc-5f1d8a2e already mounted or mount point busy."},
		},
		Explains: []string{"mount-busy", "pod-waiting-for-volume"},
		Remedies: []report.Remedy{{
			Name: "multipath-flush", Title: "Flush this one map.", Risk: "reversible",
			Commands:    []string{"kubectl debug node/worker-2 -it --profile=sysadmin --image=busybox -- nsenter -t 1 -m -- multipath -f mpatha"},
			SafeBecause: []report.Evidence{{Source: "node", Node: "worker-2", Locator: "proc/*/mountinfo", Text: "neither the map nor sdc is mounted in any namespace"}}, Undo: []string{"multipath -r"},
			Verify: []string{"ls /sys/class/block/sdc/holders"},
		}},
		Refutation: "an empty holders directory of sdc",
	}
}
