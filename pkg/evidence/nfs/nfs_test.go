package nfs

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/reach"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

const server = "10.0.0.9"

// place is the claim shop/data over NFS with pod web on node n; facts nil: nobody looked.
func place(phase corev1.PodPhase, facts *probes.Facts, texts ...string) *evidence.Place {
	meta := func(ns, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour))}
	}
	s := &snapshot.Snapshot{TakenAt: noon, Nodes: map[string]*snapshot.NodeRecord{}}
	s.Cluster.Nodes = []*corev1.Node{{ObjectMeta: meta("", "n")}, {ObjectMeta: meta("", "m"), Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Address: server}}}}}
	s.Cluster.PVs = []*corev1.PersistentVolume{{ObjectMeta: meta("", "pv"), Spec: corev1.PersistentVolumeSpec{ClaimRef: &corev1.ObjectReference{Namespace: "shop", Name: "data", UID: "uid-data"},
		PersistentVolumeSource: corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: server, Path: "/x"}}}}}
	s.Cluster.Claims = []*corev1.PersistentVolumeClaim{{ObjectMeta: meta("shop", "data"), Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv"}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}}
	pod := &corev1.Pod{ObjectMeta: meta("shop", "web"), Status: corev1.PodStatus{Phase: phase}}
	pod.Spec = corev1.PodSpec{NodeName: "n", Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}}
	st := corev1.ContainerStatus{Name: "app", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}}
	if phase == corev1.PodRunning {
		st.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{st}
	s.Cluster.Pods = []*corev1.Pod{pod}
	if facts != nil {
		s.Nodes["n"] = &snapshot.NodeRecord{Name: "n", Facts: facts}
	}
	x := snapshot.NewIndex(s)
	pl := &evidence.Place{X: x, Volume: x.Volumes[0], Node: "n", View: x.View("n")}
	for _, raw := range texts {
		pl.Texts = append(pl.Texts, evidence.Text{Source: "event", Node: "n", Pod: "shop/web", Fresh: true, At: noon, Raw: raw, Failure: message.Parse(raw)})
	}
	return pl
}

// seen are the facts of a host, with the volume mounted when options are given.
func seen(change func(*probes.Facts), options ...string) *probes.Facts {
	f := &probes.Facts{
		Identity:   probes.Identity{Hostname: "n", Kernel: "6.1.0", Clock: noon, InitMntNS: 1},
		Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1, Mounts: []probes.Mount{{ID: 1, Dev: probes.Dev{Major: 8}, Root: "/", Point: "/", FSType: "ext4"}}}},
		Processes:  []probes.Process{{PID: 1, Comm: "systemd", MntNS: 1}},
		Kubelet:    probes.Kubelet{PID: 9, Root: "/var/lib/kubelet"},
		Files:      map[string]probes.File{"usr/sbin/mkfs.ext4": {Kind: "file"}}, Dials: map[string]string{}, Statfs: map[string]probes.FSStat{}, Resolves: map[string]string{},
	}
	if len(options) > 0 {
		f.Namespaces[0].Mounts = append(f.Namespaces[0].Mounts, probes.Mount{ID: 2, Parent: 1, Dev: probes.Dev{Minor: 61}, Root: "/", Line: 2, FSType: "nfs4",
			Point: "/var/lib/kubelet/pods/uid-web/volumes/kubernetes.io~nfs/pv", Source: server + ":/x", Super: append(options, "addr="+server)})
	}
	if change != nil {
		change(f)
	}
	return f
}

func file(path, content string) func(*probes.Facts) {
	return func(f *probes.Facts) { f.Files[path] = probes.File{Kind: "file", Content: content} }
}

// TestVersion: which side lacks a version, and what only looks like it.
func TestVersion(t *testing.T) {
	t.Parallel()
	const protocol, option = "mount.nfs: Protocol not supported", "mount.nfs: an incorrect mount option was specified"
	mounts := func(version string) *probes.Facts { // of another pod
		return seen(func(f *probes.Facts) {
			f.Namespaces[0].Mounts[1].Point = "/var/lib/kubelet/pods/uid-other/volumes/kubernetes.io~nfs/other"
		}, version)
	}
	config := func(l string) *probes.Facts { return seen(file("boot/config-6.1.0", "CONFIG_NFS_FS=m\n"+l)) }
	for name, c := range map[string]struct {
		facts           *probes.Facts
		text            string
		missing, option string
	}{
		"built without it":             {config("# CONFIG_NFS_V4_1 is not set"), option, "yes", "no"},
		"built with it":                {config("CONFIG_NFS_V4_1=y"), option, "unseen", "yes"},
		"built with it, and refused":   {config("CONFIG_NFS_V4_1=y"), protocol, "unseen", "no"},
		"pinned to another":            {seen(file("etc/nfsmount.conf", "Nfsvers=3")), protocol, "yes", "no"},
		"its configuration is unread":  {seen(nil), option, "unseen", "no"},
		"a later one is mounted there": {mounts("vers=4.2"), option, "unseen", "yes"},
		"an earlier one is":            {mounts("vers=4.0"), option, "unseen", "no"},
		"an earlier protocol is":       {mounts("vers=3"), option, "unseen", "no"},
		"nobody looked":                {nil, protocol, "unseen", "no"},
	} {
		pl := place(corev1.PodPending, c.facts, c.text)
		pl.Volume.PV.Spec.MountOptions = []string{"vers=4.1"}
		v, ok := VersionOf(pl)
		if !ok || v.Missing().String() != c.missing || v.Option().String() != c.option {
			t.Errorf("%s: found %v, missing %s, an option %s", name, ok, v.Missing().String(), v.Option().String())
		}
	}
	if _, ok := VersionOf(place(corev1.PodPending, nil, "mount.nfs: rpc.statd is not running but is required for remote locking\n"+option)); ok {
		t.Error("rpc.statd prints the line about the option, too")
	}
	if _, ok := VersionOf(place(corev1.PodRunning, nil, protocol)); ok {
		t.Error("a pod that runs waits for nothing")
	}
}

// TestLocks: a process refutes; processes that were not read whole prove nothing.
func TestLocks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		facts *probes.Facts
		want  string
	}{
		"none":          {seen(nil), "yes"},
		"it runs":       {seen(func(f *probes.Facts) { f.NFS.StatdPIDs = []int{5} }), "no"},
		"not read":      {seen(func(f *probes.Facts) { f.Status = map[string]probes.ProbeState{"process": {State: "timeout"}} }), "unseen"},
		"nobody looked": {nil, "unseen"},
	} {
		if _, a := NoStatd(place(corev1.PodPending, c.facts)); a.String() != c.want {
			t.Errorf("%s: %s, want %s", name, a.String(), c.want)
		}
	}
}

// TestSilence: a failed dial is proof, a complaint of the kernel a hint, an answer refutes.
func TestSilence(t *testing.T) {
	t.Parallel()
	dial := func(answer string) func(*probes.Facts) {
		return func(f *probes.Facts) { f.Dials[server+":2049"] = answer }
	}
	const point = "/var/lib/kubelet/pods/uid-web/volumes/kubernetes.io~nfs/pv"
	for name, c := range map[string]struct {
		facts    *probes.Facts
		is, dead string
	}{
		"silent":               {seen(dial("timeout 3s"), "vers=4.1", "hard"), "yes", "yes"},
		"it answers":           {seen(dial("ok 1ms"), "vers=4.1", "hard"), "no", "yes"},
		"nobody asked":         {seen(nil, "vers=4.1", "hard"), "no", "yes"},
		"over UDP":             {seen(dial("timeout 3s"), "vers=3", "proto=udp"), "yes", "unseen"},
		"a request returned":   {seen(func(f *probes.Facts) { dial("timeout 3s")(f); f.Statfs[point] = probes.FSStat{Blocks: 1} }, "vers=4.1"), "no", "yes"},
		"the mount answers":    {seen(func(f *probes.Facts) { f.Statfs[point] = probes.FSStat{Blocks: 1} }, "vers=4.1"), "no", "yes"},
		"no mount of a volume": {seen(dial("timeout 3s")), "no", "yes"},
		"a task below the wait": {seen(func(f *probes.Facts) {
			f.Statfs[point] = probes.FSStat{Err: "hang"}
			f.Processes = append(f.Processes, probes.Process{PID: 7, State: "D", WChan: "rpc_wait_bit_killable"})
		}, "vers=4.1"), "yes", "unseen"},
	} {
		s := silenceOn(place(corev1.PodRunning, c.facts))
		if s.Is().String() != c.is || s.Dead().String() != c.dead {
			t.Errorf("%s: silent %s, dead %s", name, s.Is().String(), s.Dead().String())
		}
	}
	pl := place(corev1.PodRunning, seen(dial("timeout 3s"), "vers=4.1"))
	snap := pl.X.Snapshot
	snap.Cluster.PVs[0].Spec.CSI, snap.Cluster.PVs[0].Spec.NFS = &corev1.CSIPersistentVolumeSource{Driver: snapshot.LonghornDriver, VolumeHandle: "pv"}, nil
	snap.Cluster.Longhorn.Settings = []*snapshot.LHSetting{{ObjectMeta: metav1.ObjectMeta{Name: "storage-network-for-rwx-volume-enabled"}, Value: "true"}}
	pl.X = snapshot.NewIndex(snap)
	pl.Volume, pl.View = pl.X.Volumes[0], pl.X.View("n")
	own := Silence{Place: pl, Servers: []Silent{{Mounts: []Mount{{Mount: probes.Mount{Point: point}, Volume: pl.Volume, Addr: server, Port: "2049"}}, dial: reach.Of(pl.View, "2049", server)}}}
	if own.Dead().String() != "unseen" || own.Beyond() == "" {
		t.Errorf("Longhorn's storage network: dead %s, %q", own.Dead().String(), own.Beyond())
	}
	if s := silenceOn(place(corev1.PodRunning, nil)); len(s.Servers) > 0 {
		t.Error("of a node that was not looked at nothing is known")
	}
}

// TestDomains: two domains that were read differ; what was not read proves nothing.
func TestDomains(t *testing.T) {
	t.Parallel()
	build := func(mine, parameter string, theirs *probes.Facts) Domains {
		pl := place(corev1.PodRunning, seen(func(f *probes.Facts) {
			if mine != "" {
				file("etc/idmapd.conf", "[General]\nDomain = "+mine)(f)
			}
			file("sys/module/nfs/parameters/nfs4_disable_idmapping", parameter)(f)
		}, "vers=4.1"))
		s := pl.X.Snapshot
		if theirs != nil {
			s.Nodes["m"] = &snapshot.NodeRecord{Name: "m", Facts: theirs}
		}
		x := snapshot.NewIndex(s)
		return DomainsOf(&evidence.Place{X: x, Volume: x.Volumes[0], Node: "n", View: x.View("n")})
	}
	local := seen(file("etc/idmapd.conf", "[General]\nDomain = localdomain"))
	for name, c := range map[string]struct {
		d                     Domains
		differ, server, names string
	}{
		"two domains":            {build("lan", "N", local), "yes", "yes", "yes"},
		"one domain":             {build("LOCALDOMAIN", "N", local), "no", "yes", "yes"},
		"names not asked for":    {build("lan", "Y", local), "yes", "yes", "unseen"},
		"the server is not seen": {build("lan", "N", nil), "no", "unseen", "unseen"},
		"mine was not read":      {build("", "N", local), "no", "unseen", "unseen"},
	} {
		if c.d.Differ.String() != c.differ || c.d.Server.String() != c.server || c.d.Names.String() != c.names {
			t.Errorf("%s: differ %s, server %s, names %s", name, c.d.Differ.String(), c.d.Server.String(), c.d.Names.String())
		}
	}
}

// TestServerName: what the node's resolver says now, and what only looks like a name.
func TestServerName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		host, answer string
		ok           bool
		unknown      string
	}{
		"an address":        {server, "NXDOMAIN", false, ""},
		"unknown":           {"filer", "NXDOMAIN", true, "yes"},
		"known":             {"filer", "10.0.0.9\n10.0.0.8", true, "no"},
		"it does not reply": {"filer", "timeout 3s", true, "yes"},
		"nobody asked":      {"filer", "", true, "unseen"},
	} {
		pl := place(corev1.PodPending, seen(func(f *probes.Facts) {
			if c.answer != "" {
				f.Resolves[c.host] = c.answer
			}
		}))
		pl.Volume.PV.Spec.NFS.Server = c.host
		n, ok := ServerName(pl)
		if ok != c.ok || ok && n.Unknown.String() != c.unknown {
			t.Errorf("%s: a name %v, unknown %s", name, ok, n.Unknown.String())
		}
	}
}

// TestContest: sessions from two addresses in turn, not one client that restarted.
func TestContest(t *testing.T) {
	t.Parallel()
	line := func(addr, thread string) []string {
		return []string{
			"02/01/2026 11:59:58 : nfs-ganesha-1[" + thread + "] nfs4_op_create_session :CLIENT ID :DEBUG :CREATE_SESSION client addr=::ffff:" + addr,
			"02/01/2026 11:59:58 : nfs-ganesha-1[" + thread + "] nfs4_op_create_session :CLIENT ID :INFO :Client Record 0x1 name=(19:Linux NFSv4.2 golden) refcount=3",
		}
	}
	read := func(addresses ...string) *Contest {
		var lines []string
		for _, a := range addresses {
			lines = append(lines, line(a, "svc_1")...)
		}
		x := snapshot.NewIndex(&snapshot.Snapshot{TakenAt: noon})
		return contests(x, snapshot.Log{Lines: lines})[0]
	}
	turns := read("10.0.0.1", "10.0.0.2", "10.0.0.1", "10.0.0.2")
	if !turns.alternates() || turns.host() != "golden" || !strings.Contains(turns.words(), "10.0.0.1, 10.0.0.2 in turn (3 changes)") {
		t.Errorf("%+v: %s", turns, turns.words())
	}
	if read("10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1").alternates() || read("10.0.0.1", "10.0.0.2").alternates() {
		t.Error("one address, or one change, is one client that came back")
	}
}

// TestMissing: a helper that was looked for and is not there; a list that was not read.
func TestMissing(t *testing.T) {
	t.Parallel()
	const words = "bad option; for several filesystems (e.g. nfs, cifs) you might need a /sbin/mount.<type> helper program"
	refuse := func(path string) func(*probes.Facts) {
		return func(f *probes.Facts) {
			f.Problems = []probes.Problem{{Table: probes.Files, Path: path, Text: "EACCES"}}
		}
	}
	for name, c := range map[string]struct {
		facts             *probes.Facts
		missing, searched string
	}{
		"not there":               {seen(nil), "yes", "yes"},
		"there":                   {seen(file("sbin/mount.nfs", "")), "no", "yes"},
		"that of version 4":       {seen(file("usr/sbin/mount.nfs4", "")), "no", "yes"},
		"a directory was refused": {seen(refuse("usr/sbin")), "yes", "unseen"},
		"no program was seen":     {seen(func(f *probes.Facts) { f.Files = nil }), "unseen", "yes"},
		"nobody looked":           {nil, "unseen", "unseen"},
	} {
		s, ok := ShareOf(place(corev1.PodPending, c.facts, words))
		_, elsewhere, missing := s.Missing()
		if !ok || missing.String() != c.missing || s.Searched(elsewhere).String() != c.searched {
			t.Errorf("%s: found %v, missing %s, searched %s", name, ok, missing.String(), s.Searched(elsewhere).String())
		}
	}
	if helperFor("/dev/sdb", "") != "" || helperFor("//srv/share", "") != "mount.cifs" || helperFor("fs-1:/", "") != "mount.nfs" {
		t.Error("the source tells the helper")
	}
}
