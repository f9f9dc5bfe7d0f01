package attach_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/attach"
)

// attaching is a volume of a driver that a pod on node n1 waits for, with an attachment
// whose error can be set, and a second node with a working attachment.
func attaching(va string) *sketch.Sketch {
	return sketch.New(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1}
spec: {accessModes: [ReadWriteOnce], claimRef: {namespace: shop, name: data, uid: c1}, csi: {driver: disk.example.com, volumeHandle: vol-0a1b2c}}
status: {phase: Bound}
`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: data, uid: c1}
spec: {volumeName: pv-1}
status: {phase: Bound}
`, `
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: db-0, uid: p1, creationTimestamp: '2026-01-02T09:00:00Z'}
spec: {nodeName: n1, volumes: [{name: d, persistentVolumeClaim: {claimName: data}}], containers: [{name: app, image: i}]}
status: {phase: Pending}
`, `
apiVersion: v1
kind: Node
metadata: {name: n1}
spec: {providerID: 'aws:///eu-1a/i-0aaa1'}
status: {conditions: [{type: Ready, status: 'True'}]}
`, `
apiVersion: v1
kind: Node
metadata: {name: n2}
spec: {providerID: 'aws:///eu-1a/i-0bbb2'}
status: {conditions: [{type: Ready, status: 'True'}]}
`, `
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: n1}
spec: {drivers: [{name: disk.example.com, nodeID: i-0aaa1}]}
`, `
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: n2}
spec: {drivers: [{name: disk.example.com, nodeID: i-0bbb2}]}
`, `
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: csi-1, creationTimestamp: '2026-01-02T11:40:00Z', finalizers: [external-attacher/disk-example-com]}
spec: {attacher: disk.example.com, nodeName: n1, source: {persistentVolumeName: pv-1}}
`+va, `
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: csi-2, creationTimestamp: '2026-01-01T11:40:00Z'}
spec: {attacher: disk.example.com, nodeName: n2, source: {persistentVolumeName: pv-2}}
status: {attached: true}
`)
}

func attachError(text string) *sketch.Sketch {
	return attaching("status: {attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: '" + text + "'}}\n")
}

type sketched struct {
	sketch *sketch.Sketch
	want   []string
}

func ask(t *testing.T, rule *diagnosis.Rule, cases map[string]sketched) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.sketch.Ask(t, "pvc shop/data", rule)
			if diff := cmp.Diff(c.want, sketch.Causes(r)); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBackendThrottled(t *testing.T) {
	t.Parallel()
	const va, pvc = "VolumeAttachment csi-1", "PersistentVolumeClaim data"
	long := func(s *sketch.Sketch) *sketch.Sketch {
		return s.Edit("'2026-01-02T11:40:00Z'", "'2026-01-02T11:00:00Z'")
	}
	claimEvent := func(reason, message, first string) string {
		return "apiVersion: v1\nkind: Event\nmetadata: {namespace: shop, name: e}\ninvolvedObject: {kind: PersistentVolumeClaim, namespace: shop, name: data, uid: c1}\nreason: " + reason +
			"\nsource: {component: external-provisioner}\nfirstTimestamp: '" + first + "'\nlastTimestamp: '2026-01-02T11:59:00Z'\nmessage: '" + message + "'\n"
	}
	unbound := func(event string) *sketch.Sketch {
		return attaching("").Edit("{volumeName: pv-1}\nstatus: {phase: Bound}", "{}\nstatus: {phase: Pending}").Add(event)
	}
	ask(t, attach.BackendThrottled, map[string]sketched{
		"rate":                             {attachError("googleapi: Error 403: Too many pending operations on a resource., rateLimitExceeded"), []string{"certain " + va + " waiting"}},
		"rate, for an hour":                {long(attachError("RequestLimitExceeded: Request limit exceeded.")), []string{"certain " + va}},
		"azure":                            {attachError(`azure cloud provider throttled for operation DiskGet with reason "client throttled"`), []string{"certain " + va + " waiting"}},
		"slow":                             {attachError("expected device to be attached but was attaching"), []string{"likely " + va + " waiting"}},
		"slow, names an instance":          {attachError("expected device to be attached but was attaching, attached to instance i-0ccc3"), []string{}},
		"another operation of the backend": {attachError("rpc error: code = Internal desc = another operation on the volume is in progress"), []string{"likely " + va + " waiting"}},
		"another call of the driver":       {attachError("rpc error: code = Aborted desc = another operation for volume vol-1 is in progress"), []string{}},
		"a count":                          {attachError("rpc error: code = ResourceExhausted desc = maximum number of volumes"), []string{}},
		"a deadline":                       {attachError("rpc error: code = DeadlineExceeded desc = context deadline exceeded"), []string{}},
		"a size":                           {attachError("413 overLimit, retryAfter \"0\""), []string{}},
		"over":                             {attachError("RequestLimitExceeded").Edit("T11:58", "T11:10"), []string{}},
		"attached since":                   {attachError("RequestLimitExceeded").Edit("attached: false", "attached: true"), []string{}},
		"provisioning":                     {unbound(claimEvent("ProvisioningFailed", "TooManyRequests", "2026-01-02T11:50:00Z")), []string{"certain " + pvc + " waiting"}},
		"provisioned since":                {attaching("").Add(claimEvent("ProvisioningFailed", "TooManyRequests", "2026-01-02T11:50:00Z")), []string{}},
		"expansion, for long":              {attaching("").Add(claimEvent("VolumeResizeFailed", "Throttling: Rate exceeded", "2026-01-02T10:00:00Z")), []string{"certain " + pvc}},
		"expanded since": {attaching("").Edit("volumeName: pv-1}\nstatus: {phase: Bound}", "volumeName: pv-1, resources: {requests: {storage: 2Gi}}}\nstatus: {phase: Bound, capacity: {storage: 2Gi}}").
			Add(claimEvent("VolumeResizeFailed", "Throttling: Rate exceeded", "2026-01-02T10:00:00Z")), []string{}},
	})
}

func TestVolumeAttachmentDetachLoop(t *testing.T) {
	t.Parallel()
	going := func(status string) *sketch.Sketch {
		return attaching(status).Edit("'2026-01-02T11:40:00Z', finalizers", "'2026-01-02T08:00:00Z', deletionTimestamp: '2026-01-02T10:00:00Z', finalizers")
	}
	failing := func() *sketch.Sketch {
		return going("status: {attached: true, detachError: {time: '2026-01-02T11:58:00Z', message: 'no such volume there'}}\n")
	}
	refused := "apiVersion: v1\nkind: Event\nmetadata: {namespace: shop, name: e}\ninvolvedObject: {kind: Pod, namespace: shop, name: db-0, uid: p1}\nreason: FailedAttachVolume\nsource: {component: attachdetach-controller}\nlastTimestamp: '2026-01-02T11:59:00Z'\nmessage: 'AttachVolume.Attach failed for volume \"pv-1\" : volume attachment is being deleted'\n"
	const va = "VolumeAttachment csi-1"
	ask(t, attach.VolumeAttachmentDetachLoop, map[string]sketched{
		"it fails":                             {failing(), []string{"certain " + va}},
		"nobody says why":                      {going("status: {attached: true}\n"), []string{}},
		"nobody says why, a pod is refused":    {going("status: {attached: true}\n").Add(refused), []string{"possible " + va}},
		"the error is older than the deletion": {failing().Edit("11:58", "09:58"), []string{}},
		"it just began":                        {failing().Edit("10:00:00Z", "11:57:00Z"), []string{}},
		"the attacher's part is done":          {failing().Edit("external-attacher/disk-example-com", "other.io/x"), []string{}},
		"wanted elsewhere":                     {failing().Edit("nodeName: n1, volumes", "nodeName: n2, volumes"), []string{}},
		"the node is down":                     {failing().Edit("name: n1}\nspec: {providerID: 'aws:///eu-1a/i-0aaa1'}\nstatus: {conditions: [{type: Ready, status: 'True'}]}", "name: n1}\nstatus: {conditions: [{type: Ready, status: Unknown}]}"), []string{}},
	})
}

func TestBackendNodeUnknown(t *testing.T) {
	t.Parallel()
	const node = "Node n1"
	more := func(s *sketch.Sketch, name, on string) *sketch.Sketch {
		return s.Add("apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: " + name + "}\nspec: {attacher: disk.example.com, nodeName: " + on +
			", source: {persistentVolumeName: pv-9}}\nstatus: {attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: instance not found}}\n")
	}
	ask(t, attach.BackendNodeUnknown, map[string]sketched{
		"names the node":        {attachError(`failed to find VirtualMachine for node:"n1". Error: node wasn''t found`), []string{"certain " + node}},
		"names the instance":    {attachError("InvalidInstanceID.NotFound: The instance ID i-0aaa1 does not exist"), []string{"certain " + node}},
		"names a longer id":     {attachError("The instance ID i-0aaa17 does not exist"), []string{}},
		"a pool on the node":    {attachError(`rpc error: code = NotFound desc = storage pool fast does not exist on node "n1"`), []string{}},
		"the volume is unknown": {attachError("InvalidVolume.NotFound: The volume vol-0a1b2c does not exist, node n1"), []string{}},
		"names nothing, no id":  {attachError("instance not found").Edit("providerID: 'aws:///eu-1a/i-0aaa1'", "podCIDR: 10.0.0.0/24"), []string{"likely " + node}},
		"names nothing, alone":  {more(attachError("instance not found"), "csi-3", "n1"), []string{"likely " + node}},
		"names nothing":         {attachError("instance not found"), []string{}},
		"one id for two":        {attachError("internal error").Edit("nodeID: i-0bbb2", "nodeID: i-0aaa1"), []string{"certain " + node}},
		"one machine for two":   {attachError("internal error").Edit("eu-1a/i-0bbb2", "eu-1a/i-0aaa1"), []string{"certain " + node}},
		"two machines":          {attachError("internal error").Edit("nodeID: i-0aaa1", "nodeID: i-0ddd4"), []string{"certain " + node}},
		"an id of its own form": {attachError("internal error").Edit("nodeID: i-0aaa1", "nodeID: host-17"), []string{}},
		"any other error":       {attachError("internal error"), []string{}},
		"no node is known":      {more(attachError("instance i-0aaa1 not found").Edit("status: {attached: true}", "status: {attached: false}"), "csi-3", "n2"), []string{}},
		"attached":              {attachError("instance i-0aaa1 not found").Edit("attached: false", "attached: true"), []string{}},
		"the Node is gone":      {attachError("instance i-0aaa1 not found").Edit("kind: Node\nmetadata: {name: n1}", "kind: Node\nmetadata: {name: n9}"), []string{}},
		"a rate":                {attachError("instance i-0aaa1 not found: Throttling"), []string{}},
	})
}
