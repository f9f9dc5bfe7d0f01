package bundle

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// logPaths are where logs of containers lie: namespace, pod, container, and what marks
// the log of the last terminated one.
var logPaths = map[layout][]*regexp.Regexp{
	supportBundle: {regexp.MustCompile(`(?:^|/)logs/(?P<ns>[^/]+)/(?P<pod>[^/]+)/(?P<c>[^/]+)\.log(?P<prev>\.1)?$`)},
	mustGather: {
		regexp.MustCompile(`(?:^|/)namespaces/(?P<ns>[^/]+)/pods/(?P<pod>[^/]+)/(?P<c>[^/]+)/(?:[^/]+/)?logs/(?:current|(?P<prev>previous))\.log$`),
	},
	troubleshoot: {regexp.MustCompile(`(?:^|/)cluster-resources/pods/logs/(?P<ns>[^/]+)/(?P<pod>[^/]+)/(?P<c>[^/]+?)(?P<prev>-previous)?\.log$`)},
	heap:         {regexp.MustCompile(`^(?:[^/]+/)?logs/(?P<ns>[^/]+)/(?P<pod>[^/]+)/(?P<c>[^/]+?)(?P<prev>\.previous)?\.log$`)},
}

const (
	tailLines    = 400 // as many as are asked of a cluster
	tailBytes    = 2 << 20
	sectionStart = "==== START logs for container "
)

// logs puts the tails of the containers' logs where a snapshot has them.
func (b *importer) logs() {
	for _, name := range b.names() {
		if b.layout == clusterInfoDump && strings.HasSuffix(name, "/logs.txt") {
			b.dumped(b.files[name].data)
			continue
		}
		for _, re := range logPaths[b.layout] {
			m := re.FindStringSubmatch(name)
			if m == nil {
				continue
			}
			b.log(m[re.SubexpIndex("ns")], m[re.SubexpIndex("pod")], m[re.SubexpIndex("c")], m[re.SubexpIndex("prev")] != "", b.files[name].data)
		}
	}
}

// log puts one log; that of a pod that writes the time before each line without it.
func (b *importer) log(namespace, pod, container string, previous bool, data []byte) {
	if len(bytes.TrimSpace(data)) == 0 {
		return
	}
	ext := ".log"
	if previous {
		ext = ".previous.log"
	}
	data = tail(data)
	if b.layout == mustGather {
		data = stamped.ReplaceAll(data, nil)
	}
	name := strings.Join([]string{"logs", namespace, pod, container + ext}, "/")
	if _, twice := b.out[name]; !twice {
		b.out[name], b.logged = data, true
	}
}

// stamped is the time that "oc adm inspect" asks for before each line.
var stamped = regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,9}(?:Z|[+-]\d\d:\d\d) `)

// tail is the end of a log, from the beginning of a line.
func tail(data []byte) []byte {
	data = bytes.TrimRight(data, "\n")
	at := len(data)
	for range tailLines {
		n := bytes.LastIndexByte(data[:at], '\n')
		if n < 0 || len(data)-n > tailBytes {
			if n < 0 {
				at = 0
			}
			break
		}
		at = n
	}
	return append(bytes.TrimPrefix(data[at:], []byte("\n")), '\n')
}

var section = regexp.MustCompile(`(?m)^==== START logs for container (\S+) of pod ([^/\s]+)/(\S+) ====\r?\n`)

// dumped takes the logs out of what "kubectl cluster-info dump" prints and returns
// what is left: the objects.
func (b *importer) dumped(data []byte) []byte {
	var rest []byte
	for {
		m := section.FindSubmatchIndex(data)
		if m == nil {
			return append(rest, data...)
		}
		rest = append(rest, data[:m[0]]...)
		container, namespace, pod := string(data[m[2]:m[3]]), string(data[m[4]:m[5]]), string(data[m[6]:m[7]])
		end := fmt.Sprintf("==== END logs for container %s of pod %s/%s ====", container, namespace, pod)
		body, after, ended := bytes.Cut(data[m[1]:], []byte(end))
		if !ended {
			b.cut("the log of "+namespace+"/"+pod, fmt.Errorf("its end is missing"))
		}
		b.log(namespace, pod, container, false, body)
		data = after
	}
}
