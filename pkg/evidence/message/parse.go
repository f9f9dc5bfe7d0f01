package message

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The grammar. Event messages are cut at 1024 bytes, so nothing demands a closing
// quote at the end.
var (
	operation = regexp.MustCompile(`(?s)(?P<op>AttachVolume\.Attach|DetachVolume\.Detach|MountVolume\.\w+|UnmountVolume\.\w+|UnmountDevice|MapVolume\.\w+|UnmapVolume\.\w+|UnmapDevice|NodeExpandVolume\.\w+)(?: initialization| check)? failed for volume "(?P<spec>[^"]+)"(?: \(UniqueName: "(?P<unique>[^"]+)"\))?(?: pod "[^"]+")?(?: \(UID: "(?P<uid>[^"]+)"\))?(?: (?:from|on) node "(?P<node>[^"]+)")?\s*:?\s*(?P<err>.*)`)
	multi     = regexp.MustCompile(`Multi-Attach error for volume "(?P<spec>[^"]+)"(?: \(UniqueName: "(?P<unique>[^"]+)"\))?(?: from node "(?P<node>[^"]+)")?`)
	wrapper   = regexp.MustCompile(`Operation for "(?:\{volumeName:(?P<unique>\S+) podName:(?P<uid>\S*) nodeName:(?P<node>[^}"]*)\}|"?(?P<old>[^"]+)"?.*?)" failed\. No retries permitted until`)
	format    = regexp.MustCompile(`format of disk "(?P<dev>[^"]+)" failed`)
	grpc      = regexp.MustCompile(`(?s)rpc error: code = (\w+) desc = (.*)`)
	exit      = regexp.MustCompile(`exit status (\d+)`)
	exitCode  = regexp.MustCompile(`exit code:? (\d+)`)
	arguments = regexp.MustCompile(`(?s)Mounting arguments:\s*(?P<args>.*?)\s*\n?Output:\s*(?P<out>.*)`)
	longhorn  = regexp.MustCompile(`/dev/longhorn/([A-Za-z0-9][A-Za-z0-9_.-]*)`)
	kernelDev = regexp.MustCompile(`/dev/(?:sd[a-z]+\d*|nvme\d+n\d+(?:p\d+)?|dm-\d+|rbd\d+|nbd\d+|drbd\d+|loop\d+|md\d+|vd[a-z]+\d*|xvd[a-z]+\d*|(?:mapper|longhorn|disk/by-[a-z]+|zvol|ublkb)[/0-9][^\s"',;:)\]]*)`)
	restBad   = regexp.MustCompile(`(?s)Bad response statusCode \[\d+\].*?message=(?P<msg>.*?), detail=`)
	waitFor   = regexp.MustCompile(`unmounted volumes=\[([^\]]*)\]?`)
	unmounted = regexp.MustCompile(`list of unmounted volumes=\[([^\]]*)\]?`)
	iscsiadm  = regexp.MustCompile(`(?s)iscsiadm.*?exit (?:status|code):? (\d+)`)
)

// Parse takes a message apart. It accepts events, gRPC errors and klog lines, and
// never fails: what it does not know it leaves empty.
func Parse(s string) Failure {
	s = Decode(unescape(s))
	f := Failure{Exit: -1, Desc: s}
	f.readOperation(s)
	f.readWrapper(s)
	f.readGRPC(s)
	if m := group(restBad, "Bad response", s); m != nil {
		f.Desc = m["msg"]
	}
	f.readMount(s)
	f.readExit(s)
	f.readDevices(s)
	f.readPending(s)
	f.readKinds(s)
	return f
}

func group(re *regexp.Regexp, word, s string) map[string]string {
	if !strings.Contains(s, word) {
		return nil
	}
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
	m := group(operation, "failed for volume", s)
	if m == nil {
		m = group(multi, "Multi-Attach error", s)
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
	m := group(wrapper, "No retries permitted", s)
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
	if !strings.Contains(s, "rpc error") {
		return
	}
	for m := grpc.FindStringSubmatch(s); m != nil; m = grpc.FindStringSubmatch(m[2]) {
		f.Code, f.Desc = m[1], m[2]
		if strings.Count(f.Desc, `"`)%2 == 1 { // the end of a quoted field of a log line
			f.Desc = strings.TrimSuffix(f.Desc, `"`)
		}
	}
}

// readMount takes the two parts of an error of mount-utils.
func (f *Failure) readMount(s string) {
	m := group(arguments, "Mounting arguments", s)
	if m == nil {
		return
	}
	f.Args, f.Output = strings.TrimSpace(m["args"]), strings.TrimSpace(m["out"])
	if words := strings.Fields(m["args"]); len(words) >= 2 {
		f.MountSource, f.MountTarget = words[len(words)-2], words[len(words)-1]
	}
}

func (f *Failure) readExit(s string) {
	if !strings.Contains(s, "exit ") {
		return
	}
	for _, re := range []*regexp.Regexp{exit, exitCode} {
		if all := re.FindAllStringSubmatch(s, -1); len(all) > 0 {
			if n, err := strconv.Atoi(all[len(all)-1][1]); err == nil {
				f.Exit = n
				return
			}
		}
	}
}

func (f *Failure) readDevices(s string) {
	if !strings.Contains(s, "/dev/") && !strings.Contains(s, "format of disk") {
		return
	}
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
	if !strings.Contains(s, "unmounted volumes=") {
		return
	}
	for _, re := range []*regexp.Regexp{waitFor, unmounted} {
		if m := re.FindStringSubmatch(s); m != nil {
			f.Unmounted = strings.FieldsFunc(m[1], func(r rune) bool { return r == ' ' || r == ',' })
			return
		}
	}
}

func (f *Failure) readKinds(s string) {
	lower := strings.ToLower(s)
	for _, list := range grammar {
		for _, x := range list {
			if x.matches(s, lower) && !f.Is(x.kind) {
				f.Kinds = append(f.Kinds, x.kind)
			}
		}
	}
	if !strings.Contains(lower, "iscsiadm") {
		return
	}
	if m := iscsiadm.FindStringSubmatch(s); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			f.Kinds = append(f.Kinds, ISCSIExitKind(n))
		}
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

// unescape undoes what klog's %q did to a quoted error.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\t`, "\t").Replace(s)
}
