package attach_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// failing is a pod on n1 whose attachment says why it is not made.
func failing(message string) *cluster {
	c := newCluster().plugin("/var/lib/kubelet", 24*time.Hour, "n1", "n2", "n3")
	va := c.attached("n1", 20*time.Minute)
	va.Status.Attached = false
	if message != "" {
		va.Status.AttachError = &storagev1.VolumeError{Time: metav1.NewTime(now.Add(-time.Minute)), Message: message}
	}
	c.node("n1").Status.VolumesAttached = nil
	c.pod("new", "n1", corev1.PodPending, 20*time.Minute)
	return c
}

// attacher adds the driver's controller with its csi-attacher.
func (c *cluster) attacher() *cluster {
	p := &corev1.Pod{ObjectMeta: meta("kube-system", "disk-controller-0", time.Hour)}
	p.Spec.Containers = []corev1.Container{{Name: "csi-attacher", Image: "sig-storage/csi-attacher:v4.5.0"}, {Name: "disk", Args: []string{"--drivername=" + driver}}}
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	c.s.Cluster.Pods = append(c.s.Cluster.Pods, p)
	return c
}

// provided gives every node an id of the cloud.
func provided(c *cluster, prefix string, ids ...string) *cluster {
	for i, id := range ids {
		c.s.Cluster.Nodes[i].Spec.ProviderID = prefix + id
		c.s.Cluster.CSINodes[i].Spec.Drivers[0].NodeID = id
	}
	return c
}

func TestBackendHoldsTheDisk(t *testing.T) {
	t.Parallel()
	ec2 := func(c *cluster) *cluster { return provided(c, "aws:///eu-west-1a/", "i-0aa1", "i-0bb2", "i-0cc3") }
	sets := func(c *cluster) *cluster {
		return provided(c, "azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/pool/virtualMachines/", "0", "1", "2")
	}
	held := func(c *cluster) *cluster {
		return c.probed("n2", func(f *probes.Facts) {
			f.Block = append(f.Block, probes.BlockDevice{Name: "sdb", Dev: probes.Dev{Major: 8, Minor: 16}, Serial: "vol0a1b2c3d4e5f", Sectors: 10 << 21})
		})
	}
	const likely, certain = "attachment-stale-in-backend likely PersistentVolume pv-data", "attachment-stale-in-backend certain PersistentVolume pv-data"
	check(t, []branch{
		{"in use, and nobody is named", func() *cluster { return failing("rpc error: code = Internal desc = disk is in use") }, []string{likely}},
		{"still attached, and nobody is named", func() *cluster {
			return failing("rpc error: code = FailedPrecondition desc = volume d-1 is still attached")
		}, []string{likely}},
		{"not in use", func() *cluster {
			return failing("rpc error: code = Internal desc = volume d-1 is not in use, cannot reserve it")
		}, []string{}},
	})
	check(t, []branch{
		{"no machine is named", func() *cluster {
			return ec2(failing("rpc error: code = Internal desc = VolumeInUse: vol-0a1b2c3d4e5f is already attached to an instance\n\tstatus code: 400, request id: 7"))
		}, []string{likely}},
		{"another instance, in words", func() *cluster {
			return ec2(failing("disk vol-0a1b2c3d4e5f path /dev/vdb is attached to a different compute: i-0dd4, should be detached before proceeding"))
		}, []string{certain}},
		{"a machine under a name that no node's id resembles", func() *cluster {
			return ec2(failing("volume is already attached to node worker-17"))
		}, []string{likely}},
		{"a node by its provider id", func() *cluster {
			return ec2(failing(`volume "vol-0a1b2c3d4e5f" is already attached to node "i-0bb2"`))
		}, []string{likely}},
		{"a node that shows the disk", func() *cluster {
			return held(ec2(failing(`volume "vol-0a1b2c3d4e5f" is already attached to node "i-0bb2"`)))
		}, []string{certain}},
		{"a machine of a scale set", func() *cluster {
			return held(sets(failing("disk(/subscriptions/s/disks/d) already attached to node(/subscriptions/S/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/pool/virtualMachines/1), could not be attached to node(n1)")))
		}, []string{certain}},
		{"a machine of a scale set by its name", func() *cluster {
			return sets(failing("disk d is attached to pool_1"))
		}, []string{likely}},
		{"Kubernetes has it elsewhere", func() *cluster {
			c := ec2(failing("VolumeInUse: vol-0a1b2c3d4e5f is already attached to an instance"))
			c.attached("n2", time.Hour)
			return c
		}, []string{"volumeattachment-stale likely VolumeAttachment " + snapshot.AttachmentName(handle, driver, "n2")}},
		{"its own node", func() *cluster { return ec2(failing(`volume is already attached to node "i-0aa1"`)) }, []string{}},
	})
}

func TestAttacher(t *testing.T) {
	t.Parallel()
	template := func(zero bool) func(*cluster) {
		return func(c *cluster) {
			n := int32(1)
			if zero {
				n = 0
			}
			c.s.Cluster.Deployments = append(c.s.Cluster.Deployments, &appsv1.Deployment{ObjectMeta: meta("kube-system", "disk-controller", time.Hour),
				Spec: appsv1.DeploymentSpec{Replicas: &n, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
					{Name: "csi-attacher", Image: "sig-storage/csi-attacher:v4.5.0"}, {Name: "disk", Args: []string{"--drivername=" + driver}}}}}}})
		}
	}
	running := func(c *cluster) { c.attacher() }
	lease := func(ns, name string, age time.Duration) func(*cluster) {
		return func(c *cluster) {
			at := metav1.NewMicroTime(now.Add(-age))
			c.s.Cluster.Leases = append(c.s.Cluster.Leases, &coordinationv1.Lease{ObjectMeta: meta(ns, name, time.Hour), Spec: coordinationv1.LeaseSpec{RenewTime: &at}})
		}
	}
	leader := func(age time.Duration) func(*cluster) {
		return lease("kube-system", "external-attacher-leader-disk-csi-example-org", age)
	}
	log := func(line string) func(*cluster) {
		return func(c *cluster) {
			c.s.Logs = append(c.s.Logs, snapshot.Log{Namespace: "kube-system", Pod: "disk-controller-0", Container: "csi-attacher", Lines: []string{line}})
		}
	}
	silent := func(steps ...func(*cluster)) func() *cluster {
		return func() *cluster {
			c := failing("")
			for _, step := range steps {
				step(c)
			}
			return c
		}
	}
	justAsked := func(c *cluster) {
		c.s.Cluster.Attachments[0].CreationTimestamp = metav1.NewTime(now.Add(-10 * time.Second))
	}
	const pod = "Pod kube-system/disk-controller-0"
	check(t, []branch{
		{"scaled to 0", silent(template(true)), []string{"attacher-not-working certain Deployment kube-system/disk-controller"}},
		{"scaled to 0, asked this moment", silent(template(true), justAsked), []string{"attacher-not-working certain Deployment kube-system/disk-controller"}},
		{"not Ready, asked this moment", silent(running, justAsked, func(c *cluster) {
			c.s.Cluster.Pods[len(c.s.Cluster.Pods)-1].Status.Conditions = nil
		}), []string{"attacher-not-working certain " + pod}},
		{"runs, asked this moment", silent(running, justAsked, leader(10*time.Second)), []string{}},
		{"makes no pod", silent(template(false)), []string{"attacher-not-working certain Deployment kube-system/disk-controller"}},
		{"nothing of it is in the cluster", silent(), []string{"attacher-not-working likely CSIDriver " + driver}},
		{"others are attached meanwhile", silent(func(c *cluster) {
			c.attached("n2", 5*time.Minute).Spec.Source.PersistentVolumeName = new(string)
			c.node("n2").Status.VolumesAttached = nil
		}), []string{}},
		{"nothing of it is in the cluster, another was attached before this one was to go", silent(func(c *cluster) {
			c.s.Cluster.Attachments[0].DeletionTimestamp = &metav1.Time{Time: now.Add(-10 * time.Minute)}
			c.s.Cluster.Attachments[0].Status.Attached = true
			c.attached("n2", 15*time.Minute).Spec.Source.PersistentVolumeName = new(string)
			c.node("n2").Status.VolumesAttached = nil
		}), []string{"attacher-not-working likely CSIDriver " + driver}},
		{"runs and says nothing", silent(running, leader(10*time.Second)), []string{"attacher-not-working possible " + pod}},
		{"runs, and gives its driver half an hour", silent(running, leader(10*time.Second), func(c *cluster) {
			p := c.s.Cluster.Pods[len(c.s.Cluster.Pods)-1]
			p.Spec.Containers[0].Args = []string{"--timeout=1800s"}
		}), []string{}},
		{"runs, its log tells nothing of it", silent(running, leader(10*time.Second), log("I0302 02:59:10.000000 1 main.go:94] Version: v4.5.0")), []string{}},
		{"runs, and its log has stopped", silent(running, leader(10*time.Second), log("I0302 01:00:00.000000 1 main.go:94] Version: v4.5.0")), []string{"attacher-not-working likely " + pod}},
		{"runs, and its list is of a version that is not served", silent(running, leader(10*time.Second), log("E0302 02:59:10.000000 1 reflector.go:127] k8s.io/client-go/informers/factory.go:134: Failed to watch *v1beta1.VolumeAttachment: failed to list *v1beta1.VolumeAttachment: the server could not find the requested resource")), []string{"attacher-not-working likely " + pod}},
		{"runs, its list failed, and it works since", silent(running, leader(10*time.Second), log("I0302 02:59:10.000000 1 csi_handler.go:240] CSIHandler: processing VA \"csi-9\""), func(c *cluster) {
			c.s.Logs[0].Lines = append([]string{"E0302 02:58:10.000000 1 reflector.go:127] Failed to watch *v1.VolumeAttachment: failed to list *v1.VolumeAttachment: connection refused"}, c.s.Logs[0].Lines...)
		}), []string{}},
		{"runs, its log has stopped, and its driver has the call", silent(running, leader(10*time.Second), log("I0302 01:00:00.000000 1 main.go:94] Version: v4.5.0"), func(c *cluster) {
			c.s.Logs = append(c.s.Logs, snapshot.Log{Namespace: "kube-system", Pod: "disk-controller-0", Container: "driver", Lines: []string{"I0302 02:55:10.000000 1 controller.go:94] ControllerPublishVolume " + pvName}})
		}), []string{}},
		{"a standby's log has stopped, that of its leader goes on", silent(running, func(c *cluster) {
			leads := c.s.Cluster.Pods[len(c.s.Cluster.Pods)-1].DeepCopy()
			leads.Name, leads.UID = "disk-controller-1", "uid-disk-controller-1"
			c.s.Cluster.Pods = append(c.s.Cluster.Pods, leads)
			c.s.Logs = append(c.s.Logs, snapshot.Log{Namespace: "kube-system", Pod: leads.Name, Container: "csi-attacher", Lines: []string{"I0302 02:59:10.000000 1 csi_handler.go:240] CSIHandler: processing VA \"csi-9\""}})
		}, leader(10*time.Second), log("I0302 01:00:00.000000 1 leaderelection.go:250] attempting to acquire leader lease kube-system/x...")), []string{}},
		{"only its driver's log was read", silent(running, leader(10*time.Second), func(c *cluster) {
			c.s.Logs = append(c.s.Logs, snapshot.Log{Namespace: "kube-system", Pod: "disk-controller-0", Container: "disk", Lines: []string{"I0302 01:00:00.000000 1 main.go:94] Driver: v1"}})
		}), []string{"attacher-not-working possible " + pod}},
		{"its log has stopped, and another volume got an error since", silent(running, leader(10*time.Second), log("I0302 01:00:00.000000 1 main.go:94] Version: v4.5.0"), func(c *cluster) {
			va := c.attached("n2", time.Hour)
			va.Spec.Source.PersistentVolumeName, va.Status = new(string), storagev1.VolumeAttachmentStatus{AttachError: &storagev1.VolumeError{Time: metav1.NewTime(now.Add(-20 * time.Second)), Message: "rpc error: code = DeadlineExceeded desc = context deadline exceeded"}}
			c.node("n2").Status.VolumesAttached = nil
		}), []string{}},
		{"its leader is silent", silent(running, leader(10*time.Minute), lease("kube-node-lease", "n1", 8*time.Second)), []string{"attacher-not-working certain " + pod}},
		{"the clock is ahead", silent(running, leader(10*time.Minute), lease("kube-node-lease", "n1", 10*time.Minute)), []string{"attacher-not-working possible " + pod}},
		{"may not write, in an escaped line", silent(running, log(`E0302 02:59:10.000000 1 csi_handler.go:229] Error processing: failed to mark as attached: err="volumeattachments.storage.k8s.io \"csi-1\" is forbidden: User \"system:serviceaccount:kube-system:c\" cannot patch resource \"volumeattachments/status\" in API group"`)),
			[]string{"attacher-not-working certain " + pod}},
	})
}

// TestAttacherOnItsNode: a node that says that it is not Ready does report.
func TestAttacherOnItsNode(t *testing.T) {
	t.Parallel()
	for status, want := range map[corev1.ConditionStatus]string{corev1.ConditionUnknown: "as its node n3 does not report", corev1.ConditionFalse: "as its node n3 is not"} {
		c := failing("").attacher()
		p := c.s.Cluster.Pods[len(c.s.Cluster.Pods)-1]
		p.Spec.NodeName, p.Status.Conditions[0].Status = "n3", corev1.ConditionFalse
		c.node("n3").Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}
		r := c.diagnose(t)
		if !slices.ContainsFunc(r.RootCauses, func(k report.Cause) bool { return strings.Contains(k.Message, want) }) {
			t.Errorf("%s: %+v", status, r.RootCauses)
		}
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	says := func(message string) func() *cluster {
		return func() *cluster {
			c := newCluster().plugin("/var/lib/kubelet", 24*time.Hour, "n1", "n2", "n3")
			c.attached("n1", 20*time.Minute)
			c.pod("new", "n1", corev1.PodPending, 20*time.Minute)
			c.s.Cluster.PVs[0].Spec.CSI.NodeStageSecretRef = &corev1.SecretReference{Namespace: "store", Name: "user"}
			c.s.Cluster.Events = append(c.s.Cluster.Events, &snapshot.Event{
				ObjectMeta: meta("shop", "ev", time.Minute), Kind: "Pod", ObjNamespace: "shop", ObjName: "new", ObjUID: "uid-new", Reason: "FailedMount", Type: "Warning",
				Message: `MountVolume.MountDevice failed for volume "` + pvName + `" : ` + message, Component: "kubelet", Host: "n1", Count: 4, Last: now.Add(-time.Minute)})
			return c
		}
	}
	attributed := func(pairs ...string) func() *cluster {
		return func() *cluster {
			c := says(`rpc error: code = Internal desc = could not get account key from secret(own): secrets "own" not found`)()
			c.s.Cluster.PVs[0].Spec.CSI.VolumeAttributes = map[string]string{}
			for i := 0; i+1 < len(pairs); i += 2 {
				c.s.Cluster.PVs[0].Spec.CSI.VolumeAttributes[pairs[i]] = pairs[i+1]
			}
			return c
		}
	}
	const missing = "fetching NodeStageSecretRef store/user failed: kubernetes.io/csi: failed to find the secret user in the namespace store with error: "
	check(t, []branch{
		{"no secret", says(missing + `secrets "user" not found`), []string{"csi-credentials-wrong certain Secret store/user"}},
		{"the node authorizer knows none", says(missing + `secrets "user" is forbidden: User "system:node:n1" cannot get resource "secrets": no relationship found between node 'n1' and this object`),
			[]string{"csi-credentials-wrong certain Secret store/user"}},
		{"the kubelet may not read it", says(missing + `secrets "user" is forbidden: User "x" cannot get resource "secrets"`), []string{"csi-credentials-wrong likely Secret store/user"}},
		{"the driver asked for it by itself", says(`rpc error: code = InvalidArgument desc = GetAccountInfo(rg#acc#share) failed with error: could not get account key from secret(user): secrets "user" not found`), []string{"csi-credentials-wrong certain Secret store/user"}},
		{"the driver asked for one that nobody places", says(`rpc error: code = InvalidArgument desc = could not get account key from secret(other): secrets "other" not found`), []string{}},
		{"one that its attributes name", attributed("secretName", "own", "secretNamespace", "shop"), []string{"csi-credentials-wrong certain Secret shop/own"}},
		{"one of the driver's own, beside what its attributes name", attributed("secretName", "mine", "secretNamespace", "shop"), []string{}},
		{"one that the driver names by itself", attributed("secretNamespace", "shop"), []string{"csi-credentials-wrong likely Secret shop/own"}},
		{"refused by the storage", says("rpc error: code = Internal desc = rados: ret=-1, Operation not permitted"), []string{"csi-credentials-wrong likely Secret store/user"}},
		{"a file of the node, refused to iscsiadm", says("rpc error: code = Internal desc = {\"code\":6,\"stderr\":\"iscsiadm: Could not make /var/lib/iscsi/nodes/iqn.2005-10.org.freenas.ctl:q/10.0.0.5,3260,1: Permission denied\\niscsiadm: Error while adding record: encountered iSCSI database failure\\n\"}"), []string{}},
		{"refused by a Windows share", says("rpc error: code = Internal desc = mount failed: exit status 32\nOutput: mount error(13): Permission denied\nRefer to the mount.cifs(8) manual page"), []string{}},
	})
}
