package pods

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func TestHeldBy(t *testing.T) {
	t.Parallel()
	const uid = "262cb846-8e85-57a1-b1ca-b1466149ae96"
	const token = "/var/lib/kubelet/pods/" + uid + "/volumes/kubernetes.io~projected/kube-api-access-x/..data/token"
	for name, c := range map[string]struct {
		target, of, want string
	}{
		"a process of the host":  {token, "", "7 (agent)"},
		"one in a container":     {"/host" + token, "11111111-8e85-57a1-b1ca-b1466149ae96", "7 (agent)"},
		"one of the pod":         {token, uid, ""},
		"a file of another pod":  {strings.ReplaceAll(token, uid, "other"), "", ""},
		"a log beside a volume":  {"/var/lib/kubelet/pods/" + uid + "/etc-hosts", "", ""},
		"nobody looked at a pod": {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			facts := &probes.Facts{Processes: []probes.Process{{PID: 7, Comm: "agent", PodUID: c.of, Open: []probes.Descriptor{{Path: "proc/7/fd/3", Target: c.target}}}}}
			s := &snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"n1": {Facts: facts}}}
			p := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n1"}}
			p.UID = uid
			names, _ := HeldBy(snapshot.NewIndex(s), p)
			if got := strings.Join(names, " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
