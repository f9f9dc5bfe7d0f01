package pods

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func pod(namespace, name string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "uid-" + "0000"}, Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c"}}}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	for _, c := range change {
		c(p)
	}
	return p
}

func owned(api, kind, name string) func(*corev1.Pod) {
	yes := true
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: api, Kind: kind, Name: name, UID: "owner", Controller: &yes}}
	}
}

func hostPath(path string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "h", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path}}})
	}
}

func privileged(p *corev1.Pod) {
	yes := true
	p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: &yes}
}

func registrar(p *corev1.Pod) {
	p.Spec.Containers[0].Args = []string{"--kubelet-registration-path=/var/lib/kubelet/plugins/d.example/csi.sock"}
	hostPath("/var/lib/kubelet/plugins/d.example")(p)
}

// TestSpares knows by owner and by role whose death takes more than it frees.
func TestSpares(t *testing.T) {
	t.Parallel()
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "storage", Name: "plugin", UID: "owner"}}
	set.Spec.Template.Spec = pod("storage", "x", registrar).Spec
	plugin := pod("storage", "plugin-1", owned("apps/v1", "DaemonSet", "plugin"), registrar)
	user := pod("shop", "db-0", func(p *corev1.Pod) {
		p.UID = "user"
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	})
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data", UID: "c"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv"}}
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}, Spec: corev1.PersistentVolumeSpec{
		ClaimRef:               &corev1.ObjectReference{Namespace: "shop", Name: "data", UID: "c"},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d.example", VolumeHandle: "h"}},
	}}
	for name, tt := range map[string]struct {
		pod   *corev1.Pod
		users []*corev1.Pod
		gaps  []string
		want  string
	}{
		"a StatefulSet's":                   {pod: pod("shop", "db-1", owned("apps/v1", "StatefulSet", "db")), want: "yes"},
		"a DaemonSet's agent":               {pod: pod("monitoring", "exporter", owned("apps/v1", "DaemonSet", "exporter"), hostPath("/")), want: "yes"},
		"a DaemonSet's, the sets unread":    {pod: pod("monitoring", "exporter", owned("apps/v1", "DaemonSet", "exporter")), gaps: []string{"api/apps/daemonsets"}, want: "unseen"},
		"a static pod":                      {pod: pod("kube-system", "etcd", owned("v1", "Node", "n")), want: "no"},
		"a mirror":                          {pod: pod("kube-system", "etcd", func(p *corev1.Pod) { p.Annotations = map[string]string{"kubernetes.io/config.mirror": "1"} }), want: "no"},
		"an instance-manager":               {pod: pod("longhorn-system", "im", owned("longhorn.io/v1beta2", "InstanceManager", "im")), want: "no"},
		"a share-manager":                   {pod: pod("longhorn-system", "sm", owned("longhorn.io/v1beta2", "ShareManager", "sm")), want: "no"},
		"one that is only called so":        {pod: pod("shop", "instance-manager-1", owned("apps/v1", "StatefulSet", "instance-manager")), want: "yes"},
		"a node plugin with a user":         {pod: plugin, users: []*corev1.Pod{user}, want: "no"},
		"a node plugin without a user":      {pod: plugin, want: "yes"},
		"a node plugin, the volumes unread": {pod: plugin, gaps: []string{"api//persistentvolumes"}, want: "no"},
		"a pod that mounts for others": {pod: pod("x", "fuse", func(p *corev1.Pod) {
			b := corev1.MountPropagationBidirectional
			p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "h", MountPropagation: &b}}
		}), want: "no"},
		"a CNI":                             {pod: pod("kube-system", "net", owned("apps/v1", "DaemonSet", "net"), hostPath("/etc/cni/net.d")), want: "no"},
		"kube-proxy":                        {pod: pod("kube-system", "kp", owned("apps/v1", "DaemonSet", "kp"), func(p *corev1.Pod) { p.Spec.Containers[0].Command = []string{"/usr/local/bin/kube-proxy"} }), want: "no"},
		"a daemon of the storage":           {pod: pod("storage", "osd", owned("apps/v1", "Deployment", "osd"), privileged, hostPath("/dev")), want: "no"},
		"a privileged pod of somebody else": {pod: pod("shop", "tool", owned("apps/v1", "Deployment", "tool"), privileged, hostPath("/dev")), want: "yes"},
		"the same, with the sets unread":    {pod: pod("shop", "tool", owned("apps/v1", "Deployment", "tool"), privileged, hostPath("/dev")), gaps: []string{"api/apps/daemonsets"}, want: "unseen"},
		"a pod that nobody owns":            {pod: pod("shop", "db"), want: "yes"},
	} {
		s := &snapshot.Snapshot{Cluster: snapshot.Cluster{
			Pods: append([]*corev1.Pod{tt.pod, plugin}, tt.users...), DaemonSets: []*appsv1.DaemonSet{set}, Claims: []*corev1.PersistentVolumeClaim{claim}, PVs: []*corev1.PersistentVolume{pv},
			CSIDrivers: []*storagev1.CSIDriver{{ObjectMeta: metav1.ObjectMeta{Name: "d.example"}}},
		}}
		for _, g := range tt.gaps {
			s.Gaps = append(s.Gaps, snapshot.Gap{Need: g, Reason: "Forbidden"})
		}
		if got := Spares(snapshot.NewIndex(s), tt.pod).String(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestUsers asks who uses a volume, and whether a pod is over, with and without the rest
// of the evidence.
func TestUsers(t *testing.T) {
	t.Parallel()
	waiting := pod("shop", "db-0", func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending })
	running, ended := pod("shop", "db-0"), pod("shop", "db-0", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
	volume := func(p ...*corev1.Pod) *snapshot.Volume {
		v := &snapshot.Volume{}
		for _, c := range p {
			v.Consumers = append(v.Consumers, &snapshot.Consumer{Pod: c})
		}
		return v
	}
	process := func(uid string) *probes.Facts {
		return &probes.Facts{Processes: []probes.Process{{PID: 7, PodUID: uid, Cgroup: "/kubepods/pod" + uid, Unit: "u.service"}}}
	}
	index := func(facts *probes.Facts, pods []*corev1.Pod, gaps ...string) *snapshot.Index {
		s := &snapshot.Snapshot{Cluster: snapshot.Cluster{Pods: pods}}
		if facts != nil {
			s.Nodes = map[string]*snapshot.NodeRecord{"n": {Facts: facts}}
		}
		for _, g := range gaps {
			s.Gaps = append(s.Gaps, snapshot.Gap{Need: g, Reason: "Forbidden"})
		}
		return snapshot.NewIndex(s)
	}
	leaving := index(nil, []*corev1.Pod{running})
	leaving.Cluster.Namespaces = []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating}}}
	const uid = "uid-0000"
	for name, tt := range map[string]struct {
		got  evidence.Answer
		want string
	}{
		"none uses":                       {NoneUses(index(nil, nil), volume(), "n"), "yes"},
		"one waits there":                 {NoneUses(index(nil, nil), volume(waiting), "n"), "no"},
		"one runs elsewhere":              {NoneUses(index(nil, nil), volume(running), "other"), "yes"},
		"one runs anywhere":               {NoneUses(index(nil, nil), volume(running), ""), "no"},
		"one has finished":                {NoneUses(index(nil, nil), volume(ended), "n"), "yes"},
		"pods unread":                     {NoneUses(index(nil, nil, "api//pods"), volume(), "n"), "unseen"},
		"claims unread":                   {NoneUses(index(nil, nil, "api//persistentvolumeclaims"), volume(), "n"), "unseen"},
		"no volume":                       {NoneUses(index(nil, nil), nil, "n"), "yes"},
		"no volume, volumes unread":       {NoneUses(index(nil, nil, "api//persistentvolumes"), nil, "n"), "unseen"},
		"one that waits does not work":    {NoneWorks(index(process("other"), nil), volume(waiting), "n"), "yes"},
		"one that waits has a process":    {NoneWorks(index(process(uid), nil), volume(waiting), "n"), "no"},
		"one that waits, node unread":     {NoneWorks(index(nil, nil), volume(waiting), "n"), "unseen"},
		"one that runs works":             {NoneWorks(index(process("other"), nil), volume(running), "n"), "no"},
		"none runs":                       {NoneRuns(index(nil, nil), volume(waiting)), "yes"},
		"one runs":                        {NoneRuns(index(nil, nil), volume(running)), "no"},
		"none runs, pods unread":          {NoneRuns(index(nil, nil, "api//pods"), volume()), "unseen"},
		"gone":                            {Gone(index(process("other"), nil), "n", uid), "yes"},
		"gone, a process left":            {Gone(index(process(uid), nil), "n", uid), "no"},
		"gone, but in the API":            {Gone(index(process("other"), []*corev1.Pod{ended}), "n", uid), "no"},
		"gone, pods unread":               {Gone(index(process("other"), nil, "api//pods"), "n", uid), "unseen"},
		"over: finished":                  {Over(index(process("other"), []*corev1.Pod{ended}), "n", uid), "yes"},
		"over: finished, a process left":  {Over(index(process(uid), []*corev1.Pod{ended}), "n", uid), "no"},
		"over: running":                   {Over(index(process("other"), []*corev1.Pod{running}), "n", uid), "no"},
		"over: node unread":               {Over(index(nil, []*corev1.Pod{ended}), "n", uid), "unseen"},
		"of the unit":                     {OfUnit(index(process(""), nil), "n", 7, "u.service"), "yes"},
		"of another unit":                 {OfUnit(index(process(""), nil), "n", 7, "v.service"), "no"},
		"of a unit, the process not read": {OfUnit(index(process(""), nil), "n", 8, "u.service"), "unseen"},
		"finished":                        {Finished(ended), "yes"},
		"not finished":                    {Finished(running), "no"},
		"there":                           {Exists(index(nil, []*corev1.Pod{running}), running), "yes"},
		"not there":                       {Exists(index(nil, nil), running), "unseen"},
		"its namespace is being deleted":  {Exists(leaving, running), "no"},
	} {
		if got := tt.got.String(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestNoneUsesSaysWhatWasRead: a fact that makes a command safe claims no more than was looked at.
func TestNoneUsesSaysWhatWasRead(t *testing.T) {
	t.Parallel()
	v := &snapshot.Volume{Claim: &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data"}}}
	for unread, want := range map[string]string{"": "none of all namespaces uses the volume (0 were read)", "api//pods/team-x": "none that may name its claim uses the volume (0 were read)"} {
		x := snapshot.NewIndex(&snapshot.Snapshot{})
		if unread != "" {
			x = snapshot.NewIndex(&snapshot.Snapshot{Gaps: []snapshot.Gap{{Need: unread, Reason: snapshot.Forbidden}}})
		}
		a := NoneUses(x, v, "")
		if facts := a.Facts(); !a.Yes() || len(facts) != 1 || facts[0].Text != want {
			t.Errorf("%q: got %v", unread, facts)
		}
	}
}

// TestRanAt: a container that started after its node was looked at was not there to be seen.
func TestRanAt(t *testing.T) {
	t.Parallel()
	look := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	status := func(started time.Time) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Time{Time: started}}}}
	}
	for name, tt := range map[string]struct {
		list []corev1.ContainerStatus
		at   time.Time
		want bool
	}{
		"before":              {[]corev1.ContainerStatus{status(look.Add(-time.Second))}, look, true},
		"meanwhile":           {[]corev1.ContainerStatus{status(look)}, look, false},
		"one of two before":   {[]corev1.ContainerStatus{status(look.Add(time.Minute)), status(look.Add(-time.Hour))}, look, true},
		"no time of the pod":  {[]corev1.ContainerStatus{status(time.Time{})}, look, true},
		"no time of the node": {[]corev1.ContainerStatus{status(look)}, time.Time{}, true},
		"none runs":           {[]corev1.ContainerStatus{{}}, look, false},
	} {
		if got := RanAt(&corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: tt.list}}, tt.at); got != tt.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

// TestLastWords: of a pod that never began only events tell what keeps it from that.
func TestLastWords(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	begun := func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", RestartCount: 1}}
	}
	refused := func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerError", Message: "mkdir /etc/x: read-only file system"}}}}
	}
	crashed := func(code int32, message string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "loud", RestartCount: 3, LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message}}}}
		}
	}
	logs := []snapshot.Log{{Namespace: "storage", Pod: "plugin-2", Container: "loud", Previous: true, Lines: []string{"starting", "exec /bin/driver: exec format error"}}}
	loud := func(code int32, message string) *corev1.Pod {
		return pod("storage", "plugin-2", crashed(code, message))
	}
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		typ  string
		age  time.Duration
		want string
	}{
		"a container that cannot be made":          {pod("storage", "plugin-1", refused), "Warning", time.Minute, "mkdir /etc/x: read-only file system"},
		"a run that failed in words of its own":    {loud(255, ""), "Normal", time.Minute, "exec /bin/driver: exec format error"},
		"the same, and the kubelet kept a message": {loud(255, "no such thing"), "Normal", time.Minute, "no such thing"},
		"a run that ended well":                    {loud(0, ""), "Normal", time.Minute, ""},
		"it waits for a directory":                 {pod("storage", "plugin-1"), "Warning", time.Minute, "not a directory"},
		"long ago":                                 {pod("storage", "plugin-1"), "Warning", time.Hour, ""},
		"no complaint":                             {pod("storage", "plugin-1"), "Normal", time.Minute, ""},
		"it has run":                               {pod("storage", "plugin-1", begun), "Warning", time.Minute, ""},
	} {
		said := &snapshot.Event{Kind: "Pod", ObjNamespace: "storage", ObjName: "plugin-1", Reason: "FailedMount", Message: "not a directory", Type: c.typ, First: now.Add(-c.age), Last: now.Add(-c.age)}
		x := snapshot.NewIndex(&snapshot.Snapshot{TakenAt: now, Logs: logs, Cluster: snapshot.Cluster{Pods: []*corev1.Pod{c.pod}, Events: []*snapshot.Event{said}}})
		if got := LastWords(x, c.pod).Text; got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestUnread: of a program that ends again and again its own last words count, and that nobody read them.
func TestUnread(t *testing.T) {
	t.Parallel()
	pod := func(last *corev1.ContainerStateTerminated) *corev1.Pod {
		s := corev1.ContainerStatus{Name: "app", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}
		s.LastTerminationState.Terminated = last
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{s}}}
	}
	silent, read := snapshot.NewIndex(&snapshot.Snapshot{}), snapshot.NewIndex(&snapshot.Snapshot{Logs: []snapshot.Log{{Namespace: "shop", Pod: "web", Lines: []string{"x"}}}})
	for name, c := range map[string]struct {
		x    *snapshot.Index
		last *corev1.ContainerStateTerminated
		want string
	}{
		"nobody read it":        {silent, &corev1.ContainerStateTerminated{ExitCode: 1}, " (its own log was not read)"},
		"its log was read":      {read, &corev1.ContainerStateTerminated{ExitCode: 1}, ""},
		"it left a message":     {silent, &corev1.ContainerStateTerminated{ExitCode: 1, Message: "cannot write"}, ": cannot write"},
		"it did not run so far": {silent, nil, ""},
	} {
		if got := Unread(c.x, pod(c.last)); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
