package remedy

import (
	"net"
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Show is the step that only looks at what a cause rests on, for a cause whose steps
// are words: the object that has to change, else the place where the first fact was
// read. Not ok: nothing of it can be asked for with one command.
func Show(x *snapshot.Index, subject report.Subject, facts []report.Evidence) (Step, bool) {
	s := shower{x}
	var list []thing
	list = append(list, s.object(subject, facts)...)
	for _, e := range s.ordered(subject, facts) {
		if t, ok := s.fact(e); ok {
			list = append(list, t)
		}
	}
	for _, t := range list {
		// What the node of the fact has no program for is left out.
		if some, _ := lines(x, []Command{t.command}, new([]string)); len(some) > 0 {
			return Check("See "+t.name+".", t.command), true
		}
	}
	return Step{}, false
}

// thing is something that a command shows.
type thing struct {
	name    string
	command Command
}

type shower struct{ x *snapshot.Index }

// resources are kinds as kubectl names them; those of Longhorn lie in its namespace.
var resources = map[string]string{
	"Pod": "pod", "Node": "node", "PersistentVolume": "pv", "PersistentVolumeClaim": "pvc", "VolumeAttachment": "volumeattachment", "CSINode": "csinode",
	"CSIDriver": "csidriver", "StorageClass": "storageclass", "Secret": "secret", "ConfigMap": "configmap", "DaemonSet": "daemonset", "Deployment": "deployment",
	"StatefulSet": "statefulset", "ReplicaSet": "replicaset", "Job": "job", "Service": "service", "Endpoints": "endpoints", "NetworkPolicy": "networkpolicy",
	"PodDisruptionBudget": "pdb", "Namespace": "namespace", "ServiceAccount": "serviceaccount", "ClusterRole": "clusterrole", "VolumeSnapshot": "volumesnapshot",
	"CSIStorageCapacity": "csistoragecapacity", "ResourceQuota": "resourcequota",
}

var ofLonghorn = map[string]string{
	"Volume": "volumes", "Engine": "engines", "Replica": "replicas", "InstanceManager": "instancemanagers", "EngineImage": "engineimages", "Setting": "settings",
	"BackingImage": "backingimages", "Backup": "backups", "BackupTarget": "backuptargets", "ShareManager": "sharemanagers", "Snapshot": "snapshots",
	"VolumeAttachment.longhorn.io": "volumeattachments", "Node.longhorn.io": "nodes", "BackupVolume": "backupvolumes",
}

// described are the kinds of which describe tells more than the object: their events,
// and of a Secret the keys without their values.
var described = map[string]bool{"Pod": true, "PersistentVolumeClaim": true, "Node": true, "Secret": true, "DaemonSet": true, "Deployment": true, "StatefulSet": true, "Job": true}

// object shows the object that a cause is about, by the field of which a fact speaks
// where there is one.
func (s shower) object(subject report.Subject, facts []report.Evidence) []thing {
	if subject.Kind == "Device" || subject.Kind == "Process" || subject.Kind == "Node" {
		return nil
	}
	name := subject.Name
	if subject.Namespace != "" {
		name = subject.Namespace + "/" + name
	}
	if !described[subject.Kind] {
		for _, e := range facts {
			if rest, ok := strings.CutPrefix(e.Locator, subject.Kind+" "+name+" "); ok && simpleField.MatchString(rest) {
				return s.get(subject.Kind, name, rest)
			}
		}
	}
	return s.get(subject.Kind, name, "")
}

// ordered are the facts with those first that were read where a cause of a node is.
func (s shower) ordered(subject report.Subject, facts []report.Evidence) []report.Evidence {
	out := slices.Clone(facts)
	if subject.Node == "" || subject.Kind == "Pod" {
		return out
	}
	slices.SortStableFunc(out, func(a, b report.Evidence) int {
		return boolRank(a.Source == "node") - boolRank(b.Source == "node")
	})
	return out
}

func boolRank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// simpleField is a path of names: what stands in brackets has no place in a jsonpath
// as rules write it.
var simpleField = pattern.MustCompile(`^(spec|status|metadata|parameters|provisioner)(\.[A-Za-z]+)*$`)

// get asks for an object, or for one field of it.
func (s shower) get(kind, name, field string) []thing {
	at, bare := []string{}, name
	if ns, n, ok := strings.Cut(name, "/"); ok {
		at, bare = []string{"-n", ns}, n
	}
	resource, ok := resources[kind]
	if plural, longhorn := ofLonghorn[kind]; !ok && longhorn {
		resource, ok = plural+".longhorn.io", true
		if len(at) == 0 {
			at = []string{"-n", s.longhorn()}
		}
	}
	if !ok || !objectName.MatchString(bare) {
		return nil
	}
	called := strings.TrimSuffix(kind, ".longhorn.io") + " " + name
	switch {
	case field != "":
		return []thing{{field + " of " + called, Kubectl(append(at, "get", resource, bare, "-o", "jsonpath={."+field+"}")...)}}
	case described[kind]:
		return []thing{{called, Kubectl(append(at, "describe", resource, bare)...)}}
	}
	return []thing{{called, Kubectl(append(at, "get", resource, bare, "-o", "yaml")...)}}
}

// objectName is what the API server lets a name be.
var objectName = pattern.MustCompile(`^[a-z0-9]([-a-z0-9.:]*[a-z0-9])?$`)

func (s shower) longhorn() string {
	if spaces := s.x.LonghornNamespaces(); len(spaces) == 1 {
		return spaces[0]
	}
	return "longhorn-system"
}

// fact shows where one fact was read.
func (s shower) fact(e report.Evidence) (thing, bool) {
	switch e.Source {
	case "node":
		c, ok := s.onNode(e)
		return thing{"it on node " + e.Node, c}, ok && e.Node != ""
	case "event":
		return s.event(e)
	case "log":
		return s.log(e)
	}
	words := strings.Fields(e.Locator)
	if len(words) < 2 {
		return thing{}, false
	}
	field := ""
	if len(words) == 3 && simpleField.MatchString(words[2]) && !described[words[0]] {
		field = words[2]
	}
	if got := s.get(words[0], words[1], field); len(got) > 0 {
		return got[0], true
	}
	return thing{}, false
}

// event is "Event KIND NS/NAME REASON": the events of that object.
func (s shower) event(e report.Evidence) (thing, bool) {
	words := strings.Fields(e.Locator)
	if len(words) < 3 || words[0] != "Event" {
		return thing{}, false
	}
	ns, name, ok := strings.Cut(words[2], "/")
	if !ok || !objectName.MatchString(name) {
		return thing{}, false
	}
	return thing{"the events of " + words[1] + " " + words[2], Kubectl("-n", ns, "get", "events", "--field-selector", "involvedObject.name="+name)}, true
}

// log is "logs/NS/POD/CONTAINER[.previous]:LINE".
func (s shower) log(e report.Evidence) (thing, bool) {
	parts := strings.Split(strings.Fields(e.Locator + " ")[0], "/")
	if len(parts) != 4 || parts[0] != "logs" || !objectName.MatchString(parts[2]) {
		return thing{}, false
	}
	container, _, _ := strings.Cut(parts[3], ":")
	words := []string{"-n", parts[1], "logs", parts[2], "-c"}
	if bare, previous := strings.CutSuffix(container, ".previous"); previous {
		words = append(words, bare, "--previous")
	} else {
		words = append(words, container)
	}
	return thing{"the log of pod " + parts[1] + "/" + parts[2], Kubectl(append(words, "--tail=100")...)}, true
}

// lineNumber ends a locator of a file.
var lineNumber = pattern.MustCompile(`:\d+$`)

// onNode reads the place of a fact again. Nothing below a path of a volume is ever
// touched: a dead server would hang whoever does.
func (s shower) onNode(e report.Evidence) (Command, bool) {
	at, n := strings.TrimPrefix(e.Locator, "/"), e.Node
	if !strings.HasPrefix(at, "run/udev/data/") { // a file there is called by a device number
		at = lineNumber.ReplaceAllString(at, "")
	}
	if strings.HasPrefix(at, "@") {
		return s.special(e)
	}
	switch {
	case strings.HasSuffix(at, "mountinfo"):
		if f := strings.Fields(e.Text); len(f) > 4 && number.MatchString(f[2]) {
			return OnNode(n, "sh", "-c", "grep -s "+quote(" "+f[2]+" ")+" /proc/[0-9]*/mountinfo"), true
		}
		return OnNode(n, "cat", "/proc/1/mountinfo"), true
	case strings.HasPrefix(at, "{"):
		dirs, rest, _ := strings.Cut(strings.TrimPrefix(at, "{"), "}")
		list := []string{"ls", "-ld"}
		for _, d := range strings.Split(dirs, ",") {
			list = append(list, "/"+strings.TrimSpace(d)+rest)
		}
		return OnNode(n, list...), true
	case long[path.Base(at)], strings.HasPrefix(at, "boot/"):
		return "", false
	case strings.ContainsAny(at, "*[?{ "), strings.Contains(at, "/kubelet/"), !knownTree.MatchString(at):
		return "", false
	case process.MatchString(at) && !strings.HasPrefix(at, "proc/1/net/"):
		return OnNode(n, "ps", "-o", "pid,ppid,stat,wchan:24,lstart,args", "-p", process.FindStringSubmatch(at)[1]), true
	case strings.HasPrefix(at, "sys/") && listed[path.Base(at)], onlyListed.MatchString(at):
		return OnNode(n, "ls", "-l", "/"+at), true
	case strings.HasPrefix(at, "var/log/"): // may be of any length
		return OnNode(n, "tail", "-n", "200", "/"+at), true
	}
	return OnNode(n, "cat", "/"+at), true
}

var (
	number  = pattern.MustCompile(`^\d+:\d+$`)
	process = pattern.MustCompile(`^proc/(\d+)(/|$)`)
	// knownTree are the parts of a node that are its own and local.
	knownTree = pattern.MustCompile(`^(proc|sys|etc|lib|usr|boot|run|dev|bin|sbin|var/log|var/lib/iscsi)/`)
	// long are lists in which nobody finds a line by eye.
	long   = map[string]bool{"modules.dep": true, "modules.builtin": true}
	listed = map[string]bool{"holders": true, "slaves": true, "iscsi_session": true}
	// onlyListed are programs, device nodes and directories of modules and of sysfs: no texts.
	onlyListed = pattern.MustCompile(`^(dev|bin|sbin|usr/s?bin|usr/local/s?bin)/|^(usr/)?lib/modules(/[^/]+)?$|^sys/(class|fs)/[^/]+$|^sys/(class/block|class/iscsi_session|bus/rbd/devices|fs/(ext4|xfs|btrfs))/[^/]+$`)
)

// special reads again what no file says.
func (s shower) special(e report.Evidence) (Command, bool) {
	what, rest, _ := strings.Cut(strings.TrimPrefix(e.Locator, "@"), "/")
	n := e.Node
	switch {
	case strings.HasPrefix(what, "kmsg"):
		return KernelLog(n), true
	case what == "content" || what == "claim":
		if v := s.x.View(n); v != nil {
			for _, b := range v.Blocks() {
				if b.Dev.String() == rest {
					return OnNode(n, "lsblk", "-f", "/dev/"+b.Name), true
				}
			}
		}
	case what == "statfs":
		return OnNode(n, "grep", "-F", "/"+rest, "/proc/1/mountinfo"), true
	case what == "dial":
		host, port, err := net.SplitHostPort(strings.TrimPrefix(e.Locator, "@dial/"))
		return Dial(n, host, port), err == nil
	case what == "resolve":
		return OnNode(n, "getent", "hosts", rest), objectName.MatchString(rest)
	case what == "hostname":
		return OnNode(n, "cat", "/proc/sys/kernel/hostname"), true
	case what == "clock":
		return OnNode(n, "date"), true
	}
	return "", false
}
