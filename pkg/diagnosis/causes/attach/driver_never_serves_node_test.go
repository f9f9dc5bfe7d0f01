package attach_test

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/attach"
)

// special is a pod on node n1 that has labels, beside a driver whose DaemonSet has
// affinities.
func special(labels, affinity string) *sketch.Sketch {
	s := attaching("status: {attached: false}\n").
		Edit("kind: Node\nmetadata: {name: n1}", "kind: Node\nmetadata: {name: n1, labels: {"+labels+"}}").
		Edit("drivers: [{name: disk.example.com, nodeID: i-0aaa1}]", "drivers: []")
	if affinity == "" {
		return s
	}
	return s.Add(`
apiVersion: apps/v1
kind: DaemonSet
metadata: {namespace: kube-system, name: disk-node}
spec:
  template:
    spec:
      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [` + affinity + `]}]}}}
      containers: [{name: r, image: r, args: [--kubelet-registration-path=/var/lib/kubelet/plugins/disk.example.com/csi.sock]}]
`)
}

func TestDriverNeverServesNode(t *testing.T) {
	t.Parallel()
	const pod = "Pod db-0"
	const fargate, notFargate = "eks.amazonaws.com/compute-type: fargate", "{key: eks.amazonaws.com/compute-type, operator: NotIn, values: [fargate, auto]}"
	refused := "apiVersion: v1\nkind: Event\nmetadata: {namespace: shop, name: e}\ninvolvedObject: {kind: Pod, namespace: shop, name: db-0, uid: p1}\nreason: FailedScheduling\nsource: {component: fargate-scheduler}\nlastTimestamp: '2026-01-02T11:59:00Z'\nmessage: 'Pod not supported on Fargate: volumes not supported: d not supported because: PVC data not bound'\n"
	ask(t, attach.DriverNeverServesNode, map[string]sketched{
		"fargate":                     {special(fargate, notFargate), []string{"certain " + pod}},
		"no DaemonSet is known":       {special(fargate, ""), []string{"likely " + pod}},
		"kept off for another reason": {special(fargate, "{key: disk, operator: In, values: [fast]}"), []string{}},
		"not kept off":                {special(fargate, "{key: kubernetes.io/os, operator: NotIn, values: [windows]}"), []string{}},
		"windows":                     {special("kubernetes.io/os: windows", "{key: kubernetes.io/os, operator: In, values: [linux]}"), []string{"certain " + pod}},
		"windows, and the driver has a plugin for it": {special("kubernetes.io/os: windows", "{key: kubernetes.io/os, operator: In, values: [linux]}").Add(`
apiVersion: apps/v1
kind: DaemonSet
metadata: {namespace: kube-system, name: disk-node-win}
spec:
  template:
    spec:
      nodeSelector: {kubernetes.io/os: windows}
      containers: [{name: r, image: r, args: ['--kubelet-registration-path=C:\var\lib\kubelet\plugins\disk.example.com\csi.sock']}]
`), []string{}},
		"another architecture":      {special("kubernetes.io/arch: s390x", "{key: kubernetes.io/arch, operator: In, values: [amd64]}"), []string{"certain " + pod}},
		"an ordinary node":          {special("disk: slow", "{key: disk, operator: In, values: [fast]}"), []string{}},
		"registered":                {special(fargate, notFargate).Edit("drivers: []", "drivers: [{name: disk.example.com, nodeID: x}]"), []string{}},
		"CSINodes were not read":    {special(fargate, notFargate).Edit("kind: CSINode\nmetadata: {name: n1}", "kind: CSINode\nmetadata: {name: n3}").Gap("api/storage.k8s.io/csinodes", "Forbidden"), []string{}},
		"the scheduler of Fargate":  {special("disk: slow", notFargate).Edit("nodeName: n1, volumes", "schedulerName: fargate-scheduler, volumes").Add(refused), []string{"certain " + pod}},
		"its words are an hour old": {special("disk: slow", notFargate).Edit("nodeName: n1, volumes", "schedulerName: fargate-scheduler, volumes").Add(refused).Edit("11:59:00", "10:50:00"), []string{}},
	})
}
