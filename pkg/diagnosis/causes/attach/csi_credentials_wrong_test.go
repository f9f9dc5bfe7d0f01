package attach_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/attach"
)

// cloudVolume is a volume that is to be attached to n1, with the attacher of its driver
// and its word; secret is a field of the PV's source.
func cloudVolume(says, secret string) *sketch.Sketch {
	return sketch.New(`
apiVersion: v1
kind: Node
metadata: {name: n1, uid: n1}
status: {conditions: [{type: Ready, status: 'True'}]}
`, `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: ebs.csi.aws.com}
spec: {attachRequired: true}
`, `
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-data, uid: v1}
spec:
  accessModes: [ReadWriteOnce]
  claimRef: {namespace: shop, name: data, uid: c1}
  csi: {driver: ebs.csi.aws.com, volumeHandle: vol-0a1b2c3d`+secret+`}
status: {phase: Bound}
`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: data, uid: c1}
spec: {volumeName: pv-data, accessModes: [ReadWriteOnce]}
status: {phase: Bound}
`, `
apiVersion: v1
kind: Pod
metadata: {namespace: kube-system, name: ebs-csi-controller-0, uid: k1}
spec:
  serviceAccountName: ebs-csi-controller-sa
  nodeName: n1
  containers: [{name: csi-attacher, image: sig-storage/csi-attacher:v4.5.0}, {name: ebs-plugin, image: i, args: [--drivername=ebs.csi.aws.com]}]
status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}
`, `
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: db-0, uid: p1, creationTimestamp: '2026-01-02T11:30:00Z'}
spec:
  nodeName: n1
  volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]
  containers: [{name: app, image: i}]
status: {phase: Pending, containerStatuses: [{name: app, state: {waiting: {reason: ContainerCreating}}}]}
`, `
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: csi-1, uid: a1, creationTimestamp: '2026-01-02T11:30:00Z'}
spec: {attacher: ebs.csi.aws.com, nodeName: n1, source: {persistentVolumeName: pv-data}}
status: {attached: false, attachError: {time: '2026-01-02T11:59:00Z', message: "`+says+`"}}
`)
}

func TestCSICredentialsWrong(t *testing.T) {
	t.Parallel()
	const account, secret = "ServiceAccount ebs-csi-controller-sa", ", controllerPublishSecretRef: {namespace: store, name: array}"
	const notAllowed = "rpc error: code = Internal desc = UnauthorizedOperation: You are not authorized to perform: ec2:AttachVolume"
	later := `
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: csi-2, uid: a2, creationTimestamp: '2026-01-02T11:59:30Z'}
spec: {attacher: ebs.csi.aws.com, nodeName: n1, source: {persistentVolumeName: pv-x}}
status: {attached: true}
`
	if r := cloudVolume("LinkedAuthorizationFailed: The client 'c-1' has permission to perform action 'Microsoft.Compute/virtualMachines/write' on scope 's'; however, it does not have permission to perform action(s) 'Microsoft.Compute/disks/read' on the linked scope(s) 't'", "").
		Ask(t, "pvc shop/data", attach.CSICredentialsWrong); len(r.RootCauses) != 1 || !strings.Contains(r.RootCauses[0].Message, ": Microsoft.Compute/disks/read is refused") {
		t.Errorf("the action that is allowed is taken for the refused one: %+v", r.RootCauses)
	}
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   []string
	}{
		"a cloud role without the action":   {cloudVolume(notAllowed, ""), []string{"certain " + account}},
		"a service principal":               {cloudVolume("AuthorizationFailed: The client 'abc-1' with object id 'abc-1' does not have authorization to perform action 'Microsoft.Compute/disks/write'", ""), []string{"certain " + account}},
		"a permission of a cloud":           {cloudVolume("googleapi: Error 403: Required 'compute.instances.attachDisk' permission for 'projects/p'", ""), []string{"certain " + account}},
		"a bare refusal":                    {cloudVolume("rpc error: code = PermissionDenied desc = request denied", ""), []string{"likely " + account}},
		"a session that has ended":          {cloudVolume("rpc error: code = Internal desc = failed to attach disk: err ServerFaultCode: NotAuthenticated", ""), []string{"likely " + account}},
		"with the Secret of this step":      {cloudVolume("rpc error: code = Unauthenticated desc = login to the array failed", secret), []string{"likely Secret array"}},
		"with the Secret of another step":   {cloudVolume(notAllowed, ", nodeStageSecretRef: {namespace: store, name: node}"), []string{"certain " + account}},
		"the step's Secret is gone":         {cloudVolume("failed to load secret \\\"store/array\\\": secrets \\\"array\\\" not found", secret), []string{"certain Secret array"}},
		"another volume was attached since": {cloudVolume(notAllowed, "").Add(later), []string{}},
		"a rate":                            {cloudVolume("googleapi: Error 403: Rate Limit Exceeded, rateLimitExceeded", ""), []string{}},
		"a policy that binds everybody":     {cloudVolume("HTTPStatusCode: 403, Raw Error: RequestDisallowedByPolicy: Resource disks was disallowed by policy", ""), []string{}},
		"an amount":                         {cloudVolume("hcloud: volume limit exceeded (resource_limit_exceeded), HTTP 403", ""), []string{}},
		"a full machine":                    {cloudVolume("failed to attach: Request forbidden, code: 403, The maximum allowed number of disk devices (16) to attach to a single instance has been exceeded", ""), []string{}},
		"a file of the node":                {cloudVolume("rpc error: code = Internal desc = open /var/lib/x/token: permission denied", ""), []string{}},
		"a lock of a program of the node":   {cloudVolume("rpc error: code = Internal desc = iscsiadm: Could not make /run/lock/iscsi: Permission denied: exit status 6", ""), []string{}},
		"the Kubernetes API refuses":        {cloudVolume("volumeattachments.storage.k8s.io is forbidden: User \\\"system:serviceaccount:kube-system:a\\\" cannot patch resource", ""), []string{}},
		"nobody knows the workload":         {cloudVolume(notAllowed, "").Edit("csi-attacher", "other"), []string{"certain PersistentVolume pv-data"}},
		"an old word":                       {cloudVolume(notAllowed, "").Edit("11:59:00Z", "11:31:00Z"), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.sketch.Ask(t, "pvc shop/data", attach.CSICredentialsWrong)
			if diff := cmp.Diff(c.want, sketch.Causes(r)); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
