package longhorn

import (
	_ "embed"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed ip_family_unsupported.md
var ipFamilyUnsupportedDoc string

// IPFamilyUnsupported finds IPv6 addresses that a component writes without brackets.
var IPFamilyUnsupported = &diagnosis.Rule{
	Name: "ip-family-unsupported", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods"), diagnosis.API("longhorn.io/volumes")},
	Explains: []string{"volume-attach-loop", "share-manager-failing", "attach-failed", "mount-failed", "pod-waiting-for-volume"},
	LeadsTo:  []string{"longhorn-share-manager-down"},
	Doc:      ipFamilyUnsupportedDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if lh := volumeOf(v); lh != nil && len(v.Waiting()) > 0 {
				malformedAddress(p, v, lh)
			}
		}
	},
}

// malformedAddress looks for an IPv6 pod address of a Longhorn component, and for a
// text that shows it glued to a port: "[fd00::2e:9600]:443", "too many colons".
func malformedAddress(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume) {
	for _, pod := range componentPods(p, v, lh) {
		ip := firstIP(pod)
		if !strings.Contains(ip, ":") {
			continue
		}
		text, ok := gluedText(p, v, lh.Namespace, ip)
		if !ok {
			continue
		}
		subject := diagnosis.ObjectSubject("Volume", lh.Namespace, lh.Name)
		if v.RegularRWX() && strings.HasPrefix(pod.Name, "share-manager-") {
			subject = diagnosis.ObjectSubject("ShareManager", lh.Namespace, lh.Name)
		}
		// The text proves a wrong address, not that nothing else is wrong: likely.
		f := p.Find(report.Likely, subject).On(v)
		f.Sayf("The address of pod %s/%s is IPv6 (%s), and Longhorn writes it without brackets: the port becomes the last group of the address, and another port is dialled. This version cannot order that component over IPv6.",
			pod.Namespace, pod.Name, ip)
		f.Fact(diagnosis.FromAPI("Pod "+pod.Namespace+"/"+pod.Name, "status.podIP", ip), text)
		f.Unless("the same component answering Longhorn at a well-formed address")
		f.Advise(remedy.Words("Upgrade Longhorn to a version that supports IPv6 for this component, or run the cluster dual-stack with IPv4 first. A new pod gets another IPv6 address and fails alike."))
		p.Report(f)
		return
	}
}

// componentPods are the pods whose address Longhorn dials for the volume.
func componentPods(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume) []*corev1.Pod {
	var out []*corev1.Pod
	if pod := p.Pod(lh.Namespace, "share-manager-"+lh.Name); pod != nil && v.RegularRWX() {
		out = append(out, pod)
	}
	nodes := p.DeviceNodes(v)
	for _, n := range wantedNodes(v) {
		if !slices.Contains(nodes, n) {
			nodes = append(slices.Clip(nodes), n)
		}
	}
	for _, node := range nodes {
		for _, im := range p.InstanceManagersOn(node) {
			if pod := p.Pod(im.Namespace, im.Name); pod != nil {
				out = append(out, pod)
			}
		}
	}
	return out
}

func firstIP(pod *corev1.Pod) string {
	if len(pod.Status.PodIPs) > 0 {
		return pod.Status.PodIPs[0].IP
	}
	return pod.Status.PodIP
}

// gluedText finds a fresh text about the volume, or log line of a Longhorn pod, that
// shows the address glued to a port, inside brackets or without any.
func gluedText(p *diagnosis.Pass, v *snapshot.Volume, namespace, ip string) (report.Evidence, bool) {
	if net.ParseIP(ip) == nil {
		return report.Evidence{}, false // no address: whoever wrote it, it is in no text of Longhorn's
	}
	glued := regexp.MustCompile(`\[` + regexp.QuoteMeta(ip) + `:\d{2,5}\](?::\d+)?|(?:^|[^\[0-9a-f:])` + regexp.QuoteMeta(ip) + `:\d{2,5}\b.*too many colons|too many colons in address.*` + regexp.QuoteMeta(ip))
	for _, t := range p.Texts(v) {
		if t.Fresh && glued.MatchString(t.Raw) {
			return t.Evidence(), true
		}
	}
	for _, log := range p.Logs {
		if log.Namespace != namespace {
			continue
		}
		for i := len(log.Lines) - 1; i >= 0; i-- {
			line := log.Lines[i]
			at := message.Date(line, p.TakenAt)
			if glued.MatchString(line) && !at.IsZero() && p.Age(at) < 10*time.Minute {
				return report.Evidence{Source: "log", Locator: fmt.Sprintf("logs %s/%s/%s", log.Namespace, log.Pod, log.Container), Text: line}, true
			}
		}
	}
	return report.Evidence{}, false
}
