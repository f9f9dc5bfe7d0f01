package message

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// The grammar. Event messages are cut at 1024 bytes, so nothing demands a closing
// quote at the end.
var (
	operation = pattern.MustCompile(`(?s)(?P<op>AttachVolume\.Attach|DetachVolume\.Detach|MountVolume\.\w+|UnmountVolume\.\w+|UnmountDevice|MapVolume\.\w+|UnmapVolume\.\w+|UnmapDevice|NodeExpandVolume\.\w+)(?: initialization| check)? failed for volume "(?P<spec>[^"]+)"(?: \(UniqueName: "(?P<unique>[^"]+)"\))?(?: pod "[^"]+")?(?: \(UID: "(?P<uid>[^"]+)"\))?(?: (?:from|on) node "(?P<node>[^"]+)")?\s*:?\s*(?P<err>.*)`)
	multi     = pattern.MustCompile(`Multi-Attach error for volume "(?P<spec>[^"]+)"(?: \(UniqueName: "(?P<unique>[^"]+)"\))?(?: from node "(?P<node>[^"]+)")?`)
	wrapper   = pattern.MustCompile(`Operation for "(?:\{volumeName:(?P<unique>\S+) podName:(?P<uid>\S*) nodeName:(?P<node>[^}"]*)\}|"?(?P<old>[^"]+)"?.*?)" failed\. No retries permitted until`)
	format    = pattern.MustCompile(`format of disk "(?P<dev>[^"]+)" failed`)
	grpc      = pattern.MustCompile(`(?s)rpc error: code = (\w+) desc = (.*)`)
	exit      = pattern.MustCompile(`exit status (\d+)`)
	exitCode  = pattern.MustCompile(`exit code:? (\d+)`)
	arguments = pattern.MustCompile(`(?s)Mounting arguments:\s*(?P<args>.*?)\s*\n?Output:\s*(?P<out>.*)`)
	longhorn  = pattern.MustCompile(`/dev/longhorn/([A-Za-z0-9][A-Za-z0-9_.-]*)`)
	kernelDev = pattern.MustCompile(`/dev/(?:sd[a-z]+\d*|nvme\d+n\d+(?:p\d+)?|dm-\d+|rbd\d+|nbd\d+|drbd\d+|loop\d+|md\d+|vd[a-z]+\d*|xvd[a-z]+\d*|disk/by-path/[^\s"',;)]*[^\s"',;:.)\]]|(?:mapper|longhorn|disk/by-[a-z]+|zvol|ublkb)[/0-9][^\s"',;:)\]]*)`)
	restBad   = pattern.MustCompile(`(?s)Bad response statusCode \[\d+\].*?message=(?P<msg>.*?), detail=`)
	waitFor   = pattern.MustCompile(`unmounted volumes=\[([^\]]*)\]?`)
	unmounted = pattern.MustCompile(`list of unmounted volumes=\[([^\]]*)\]?`)
	iscsiadm  = pattern.MustCompile(`(?s)iscsiadm.*?exit (?:status|code):? (\d+)`)
)

// Parse takes a message apart. It accepts events, gRPC errors and klog lines, and
// never fails: what it does not know it leaves empty.
func Parse(s string) Failure {
	s = Decode(unescape(s))
	f := Failure{Exit: -1, Desc: s}
	f.readOperation(s)
	f.readWrapper(s)
	f.readGRPC(s)
	if m := group(restBad, s); m != nil {
		f.Desc = m["msg"]
	}
	f.readMount(s)
	f.readExit(s)
	f.readDevices(s)
	f.readPending(s)
	f.readKinds(s)
	return f
}

func group(re *pattern.Pattern, s string) map[string]string {
	m := re.FindStringSubmatch(s)
	if m == nil {
		return nil
	}
	out := map[string]string{}
	for i, n := range re.SubexpNames() {
		if n != "" {
			out[n] = m[i]
		}
	}
	return out
}

func (f *Failure) readOperation(s string) {
	m := group(operation, s)
	if m == nil {
		m = group(multi, s)
	}
	if m == nil {
		return
	}
	f.Op, f.Spec, f.Unique, f.PodUID, f.OnNode = m["op"], m["spec"], m["unique"], m["uid"], m["node"]
	if m["err"] != "" {
		f.Desc = m["err"]
	}
}

func (f *Failure) readWrapper(s string) {
	m := group(wrapper, s)
	if m == nil {
		return
	}
	fill(&f.Unique, m["unique"])
	fill(&f.PodUID, m["uid"])
	fill(&f.OnNode, m["node"])
	fill(&f.Unique, m["old"])
}

func fill(to *string, from string) {
	if *to == "" {
		*to = from
	}
}

// readGRPC takes the innermost status: outer ones only pass it on.
func (f *Failure) readGRPC(s string) {
	for m := grpc.FindStringSubmatch(s); m != nil; m = grpc.FindStringSubmatch(m[2]) {
		f.Code, f.Desc = m[1], m[2]
		if strings.Count(f.Desc, `"`)%2 == 1 { // the end of a quoted field of a log line
			f.Desc = strings.TrimSuffix(f.Desc, `"`)
		}
	}
}

// readMount takes the two parts of an error of mount-utils.
func (f *Failure) readMount(s string) {
	m := group(arguments, s)
	if m == nil {
		return
	}
	f.Args, f.Output = strings.TrimSpace(m["args"]), strings.TrimSpace(m["out"])
	if words := strings.Fields(m["args"]); len(words) >= 2 {
		f.MountSource, f.MountTarget = words[len(words)-2], words[len(words)-1]
	}
}

func (f *Failure) readExit(s string) {
	for _, re := range []*pattern.Pattern{exit, exitCode} {
		if all := re.FindAllStringSubmatch(s, -1); len(all) > 0 {
			if n, err := strconv.Atoi(all[len(all)-1][1]); err == nil {
				f.Exit = n
				return
			}
		}
	}
}

func (f *Failure) readDevices(s string) {
	for _, d := range kernelDev.FindAllString(s, -1) {
		f.addDevice(strings.TrimRight(d, ".,:;\"'"))
	}
	if m := format.FindStringSubmatch(s); m != nil {
		f.addDevice(m[1])
	}
	for _, m := range longhorn.FindAllStringSubmatch(s, -1) {
		if v := strings.TrimRight(m[1], ".-_"); !slices.Contains(f.Vols, v) {
			f.Vols = append(f.Vols, v)
		}
	}
}

func (f *Failure) addDevice(d string) {
	if !slices.Contains(f.Devices, d) {
		f.Devices = append(f.Devices, d)
	}
}

// readPending lists the pod's volumes that kubelet's summary calls unmounted.
func (f *Failure) readPending(s string) {
	for _, re := range []*pattern.Pattern{waitFor, unmounted} {
		if m := re.FindStringSubmatch(s); m != nil {
			f.Unmounted = strings.FieldsFunc(m[1], func(r rune) bool { return r == ' ' || r == ',' })
			return
		}
	}
}

func (f *Failure) readKinds(s string) {
	for _, list := range grammar {
		for _, x := range list {
			if !f.Is(x.kind) && x.re.MatchString(s) {
				f.Kinds = append(f.Kinds, x.kind)
			}
		}
	}
	if m := iscsiadm.FindStringSubmatch(s); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			f.Kinds = append(f.Kinds, iscsiExitKind(n))
		}
	}
	if passedOn(s) {
		f.Kinds = slices.DeleteFunc(f.Kinds, func(k Kind) bool { return k == SocketRefused })
	}
}

// passedOn tells whether a refused connection is one that a driver tells of: who answers that a
// daemon behind it does not, was reached. A CSI socket is a unix one.
func passedOn(s string) bool {
	m := grpc.FindStringSubmatch(s)
	return m != nil && m[1] != "Unavailable" || strings.Contains(s, "dial tcp ") && !strings.Contains(s, "dial unix ")
}

// unescape undoes what klog's %q did to a quoted error.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return escapes.Replace(s)
}

var escapes = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\t`, "\t")
