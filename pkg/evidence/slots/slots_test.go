package slots_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/claim"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/slots"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

const (
	ebs    = "ebs.csi.aws.com"
	inTree = "kubernetes.io/aws-ebs"
)

// machine is n1 with a limit, volumes of the driver by attachment, and further names in
// its status; pv-new waits there and the driver says something.
func machine(limit string, attached int, listed []string, says string) *sketch.Sketch {
	allocatable := ""
	if limit != "" {
		allocatable = ", allocatable: {count: " + limit + "}"
	}
	for i := range listed {
		listed[i] = "{name: '" + listed[i] + "', devicePath: ''}"
	}
	s := sketch.New(`
apiVersion: v1
kind: Node
metadata: {name: n1, uid: n1}
status:
  conditions: [{type: Ready, status: 'True'}]
  volumesAttached: [`+strings.Join(listed, ", ")+`]
`, `
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: n1}
spec: {drivers: [{name: `+ebs+`, nodeID: n1`+allocatable+`}]}
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
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: data, uid: c1}
spec: {volumeName: pv-new, accessModes: [ReadWriteOnce]}
status: {phase: Bound}
`, volume("pv-new", "vol-0new")+"  claimRef: {namespace: shop, name: data, uid: c1}\n", attachment("pv-new", "false, attachError: {time: '2026-01-02T11:59:00Z', message: '"+says+"'}"))
	for i := range attached {
		name := fmt.Sprintf("pv-%d", i)
		s.Add(volume(name, fmt.Sprintf("vol-%08d", i)), attachment(name, "true"))
	}
	return s
}

func event(text string) string {
	return "apiVersion: v1\nkind: Event\nmetadata: {namespace: shop, name: e}\ninvolvedObject: {kind: Pod, namespace: shop, name: db-0, uid: p1}\ntype: Warning\nreason: FailedAttachVolume\nsource: {component: attachdetach-controller}\nlastTimestamp: '2026-01-02T11:59:30Z'\nmessage: '" + text + "'\n"
}

func csiNode(name, limit string) string {
	return "apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: " + name + "}\nspec: {drivers: [{name: " + ebs + ", nodeID: " + name + ", allocatable: {count: " + limit + "}}]}\n"
}

func volume(name, handle string) string {
	return "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: " + name + ", uid: " + name + "}\nstatus: {phase: Bound}\nspec:\n  accessModes: [ReadWriteOnce]\n  capacity: {storage: 5Gi}\n  csi: {driver: " + ebs + ", volumeHandle: " + handle + "}\n"
}

func attachment(pv, attached string) string {
	return "apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: csi-" + pv + ", uid: a-" + pv + ", creationTimestamp: '2026-01-02T11:30:00Z'}\nspec: {attacher: " + ebs + ", nodeName: n1, source: {persistentVolumeName: " + pv + "}}\nstatus: {attached: " + attached + "}\n"
}

func names(prefix string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s%08d", prefix, i))
	}
	return out
}

func TestOn(t *testing.T) {
	t.Parallel()
	csi := "kubernetes.io/csi/" + ebs + "^vol-"
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		driver string
		count  int
		listed int
		inTree int
	}{
		"attachments alone":                       {machine("", 3, nil, "x"), ebs, 3, 0, 0},
		"the status repeats them":                 {machine("", 3, names(csi, 3), "x"), ebs, 3, 0, 0},
		"the status knows more":                   {machine("", 3, names(csi, 5), "x"), ebs, 5, 2, 0},
		"volumes of the plugin":                   {machine("", 3, names(inTree+"/vol-9", 2), "x"), ebs, 5, 0, 2},
		"the plugin's own question":               {machine("", 3, names(inTree+"/aws://eu-1a/vol-9", 2), "x"), inTree, 5, 0, 2},
		"volumes of somebody else":                {machine("", 3, names("kubernetes.io/csi/file.example.com^v", 4), "x"), ebs, 3, 0, 0},
		"the asked volume is not counted":         {machine("", 3, []string{"kubernetes.io/csi/" + ebs + "^vol-0new"}, "x"), ebs, 3, 0, 0},
		"an attachment whose volume was not read": {machine("", 1, names(csi, 2), "x").Add(attachment("pv-unread", "true")), ebs, 2, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := c.sketch.Index(t)
			got := slots.On(x, c.driver, "n1", x.VolumeOfPV("pv-new"))
			if diff := cmp.Diff([]int{c.count, c.listed, c.inTree}, []int{got.Count(), got.Listed, got.InTree}); diff != "" {
				t.Errorf("count, listed, in-tree (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFull asks the cause about every way in which a node is full.
func TestFull(t *testing.T) {
	t.Parallel()
	const hangs, told = "rpc error: code = DeadlineExceeded desc = context deadline exceeded", "rpc error: code = ResourceExhausted desc = the node has the maximum number of attached volumes"
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   []string
	}{
		"its own volumes reach the limit":                     {machine("5", 5, nil, hangs), []string{"certain Node n1"}},
		"with those of the plugin":                            {machine("5", 3, names(inTree+"/vol-9", 2), hangs), []string{"likely Node n1"}},
		"with those of the plugin, and it says so":            {machine("5", 3, names(inTree+"/vol-9", 2), told), []string{"certain Node n1"}},
		"one below the limit":                                 {machine("5", 4, nil, hangs), []string{"likely Node n1"}},
		"reached, and the backend refuses for another reason": {machine("5", 5, nil, "rpc error: code = NotFound desc = volume vol-0new does not exist"), []string{"likely Node n1"}},
		"lowered under them, and it is attached elsewhere":    {machine("2", 5, nil, "rpc error: code = FailedPrecondition desc = volume vol-0new is attached to node n2"), []string{}},
		"room enough":                              {machine("9", 4, nil, hangs), []string{}},
		"another reason":                           {machine("5", 4, nil, "rpc error: code = Internal desc = volume is being created"), []string{}},
		"no limit, and few volumes":                {machine("", 4, nil, hangs), []string{}},
		"no limit, and many volumes":               {machine("", 24, nil, hangs), []string{"likely Node n1"}},
		"no limit, fewer than any machine takes":   {machine("", 12, nil, hangs), []string{}},
		"no limit but that of another node":        {machine("", 12, nil, hangs).Add(csiNode("n2", "12")), []string{"likely Node n1"}},
		"no limit, and it says so":                 {machine("", 4, nil, told), []string{"certain Node n1"}},
		"it names an instance beside the limit":    {machine("", 4, nil, "rpc error: code = ResourceExhausted desc = already attached to i-0a: maximum number of volumes"), []string{"certain Node n1"}},
		"Nova says it with a 403":                  {machine("", 4, nil, `error message: {"forbidden": {"code": 403, "message": "The maximum allowed number of disk devices (16) to attach to a single instance has been exceeded."}}`), []string{"certain Node n1"}}, // rackerlabs/spot issue 210
		"QingCloud denies a permission":            {machine("", 4, nil, "QingCloud Error: Code (1400), Message (PermissionDenied, you can only attach [10] volumes to one instance at most)"), []string{"certain Node n1"}},                                          // yunify/qingcloud-csi issue 53
		"Alibaba's code":                           {machine("", 4, nil, "ErrorCode: InstanceDiskLimitExceeded, Node(i-1)exceed the limit attachments of disk"), []string{"certain Node n1"}},
		"too many at once":                         {machine("", 4, nil, "ErrorCode: OperationConflict.DisksAttachingParallellyExceed, Message: The number of disks attaching parallelly exceeds the limit."), []string{}},
		"a rate":                                   {machine("", 4, nil, "rpc error: code = ResourceExhausted desc = attach: too many requests"), []string{}},
		"a controller is missing":                  {machine("", 24, nil, "rpc error: code = Internal desc = failed to attach disk: CNS: Failed to attach disk because missing SCSI controller"), []string{"certain Node n1"}},
		"its controllers are full":                 {machine("", 24, nil, "SCSI Controller Limit of 4 has been reached, cannot create another SCSI controller"), []string{"certain Node n1"}},
		"limits were not read":                     {machine("", 24, nil, hangs).Gap("api/storage.k8s.io/csinodes", "Forbidden"), []string{}},
		"an event says so, its attachment not":     {machine("127", 4, nil, "rateLimitExceeded").Add(event("AttachVolume.Attach failed for volume \"pv-new\" : " + told)), []string{"likely Node n1"}},
		"an event says so, its attachment nothing": {machine("127", 4, nil, "").Add(event("AttachVolume.Attach failed for volume \"pv-new\" : " + told)), []string{"certain Node n1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.sketch.Ask(t, "pvc shop/data", claim.AttachLimitExceeded)
			if diff := cmp.Diff(c.want, sketch.Causes(r)); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFullOpen: where a node holds as many volumes as machines of its driver take, and the
// refusal names no reason, the limit is left open, and not ruled out.
func TestFullOpen(t *testing.T) {
	t.Parallel()
	const refused = "rpc error: code = Internal desc = failed to attach disk: fault: <nil>"
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		open   bool
	}{
		"many volumes and no limit": {machine("", 24, nil, refused), true},
		"few volumes":               {machine("", 12, nil, refused), false},
		"room below the limit":      {machine("39", 24, nil, refused), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.sketch.Ask(t, "pvc shop/data", claim.AttachLimitExceeded)
			open := slices.ContainsFunc(r.NotChecked, func(g report.NotChecked) bool { return strings.Contains(g.Need, "has a place left") })
			if open != c.open || len(r.RootCauses) > 0 {
				t.Errorf("left open: %v, want %v; causes %v", open, c.open, sketch.Causes(r))
			}
		})
	}
}
