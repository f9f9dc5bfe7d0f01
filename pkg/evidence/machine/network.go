package machine

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Shares above which counters since boot speak of a link that loses packets.
const (
	badRetransmits = 0.02  // of the TCP segments sent
	badDrops       = 0.001 // of the packets of an interface
)

// Lossy asks whether the network counters of a node show that packets are lost, and says
// how. Counters run since boot; two samples would tell whether they still rise, so clean ones
// refute nothing.
func Lossy(x *snapshot.Index, node string) (words string, a evidence.Answer) {
	view := x.View(node)
	if view == nil {
		return "", evidence.Unseen(evidence.Tables(x, node, probes.Files).Lacks()...)
	}
	var said []string
	var facts []report.Evidence
	if share, text, where := retransmits(view); share > badRetransmits {
		said = append(said, fmt.Sprintf("%.1f %% of the TCP segments were sent again", share*100))
		facts = append(facts, evidence.FromNode(node, where, text))
	}
	for _, i := range interfaces(view) {
		if i.share > badDrops {
			said = append(said, fmt.Sprintf("interface %s dropped or failed %d of %d packets (%s)", i.name, i.lost, i.packets, i.way))
			facts = append(facts, evidence.FromNode(node, i.where, i.text))
		}
	}
	if len(facts) == 0 {
		return "", evidence.Unseen(lack(node, probes.Files, "drops or retransmitted segments of node "+node))
	}
	return strings.Join(said, ", "), evidence.Yes(facts...)
}

// retransmits reads the line pair "Tcp:" of /proc/net/snmp: names, then numbers.
func retransmits(view *snapshot.NodeView) (share float64, text, where string) {
	for _, where := range []string{"proc/1/net/snmp", "proc/net/snmp"} {
		var names []string
		for _, line := range strings.Split(view.Facts.Files[where].Content, "\n") {
			f := strings.Fields(line)
			switch {
			case len(f) == 0 || f[0] != "Tcp:":
			case names == nil:
				names = f
			case len(f) == len(names):
				if sent, again := number(f, names, "OutSegs"), number(f, names, "RetransSegs"); sent > 0 {
					return float64(again) / float64(sent), fmt.Sprintf("Tcp: OutSegs %d RetransSegs %d", sent, again), where
				}
			}
		}
	}
	return 0, "", ""
}

func number(values, names []string, name string) uint64 {
	i := slices.Index(names, name)
	if i < 0 || i >= len(values) {
		return 0
	}
	return parse(values[i])
}

func parse(s string) uint64 {
	n, _ := strconv.ParseUint(s, 10, 64)
	return n
}

// link is one direction of an interface.
type link struct {
	name, way, where, text string
	lost, packets          uint64
	share                  float64
}

// interfaces reads /proc/net/dev (proc(5)): after the name eight numbers received, eight
// sent; the second is packets, the third errors, the fourth drops.
func interfaces(view *snapshot.NodeView) []link {
	var out []link
	for _, where := range []string{"proc/1/net/dev", "proc/net/dev"} {
		for _, line := range strings.Split(view.Facts.Files[where].Content, "\n") {
			name, rest, ok := strings.Cut(line, ":")
			f := strings.Fields(rest)
			name = strings.TrimSpace(name)
			if !ok || len(f) < 16 || name == "lo" {
				continue
			}
			for at, way := range map[int]string{0: "received", 8: "sent"} {
				packets, lost := parse(f[at+1]), parse(f[at+2])+parse(f[at+3])
				if packets > 0 && lost > 0 {
					out = append(out, link{name, way, where, strings.TrimSpace(line), lost, packets, float64(lost) / float64(packets)})
				}
			}
		}
		if len(out) > 0 {
			break
		}
	}
	slices.SortStableFunc(out, func(a, b link) int { return strings.Compare(a.name+" "+a.way, b.name+" "+b.way) })
	return out
}

// MTUsDiffer says which interfaces of two nodes have different MTUs, a sentence each.
func MTUsDiffer(x *snapshot.Index, one, other string) string {
	a, b := mtus(x.View(one)), mtus(x.View(other))
	var out []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if z, ok := b[name]; ok && z != a[name] {
			out = append(out, fmt.Sprintf("The MTU of %s is %s on %s and %s on %s.", name, a[name], one, z, other))
		}
	}
	return strings.Join(out, " ")
}

func mtus(view *snapshot.NodeView) map[string]string {
	out := map[string]string{}
	if view == nil {
		return out
	}
	for name, f := range view.Facts.Files {
		if rest, ok := strings.CutPrefix(name, "sys/class/net/"); ok && path.Base(rest) == "mtu" {
			out[path.Dir(rest)] = strings.TrimSpace(f.Content)
		}
	}
	return out
}

var someAvg60 = pattern.MustCompile(`some avg10=\S+ avg60=(\d+)\S*`)

// CPUPressure quotes /proc/pressure/cpu when tasks waited over a quarter of a minute.
func CPUPressure(x *snapshot.Index, node string) string {
	text, _ := file(x, node, "proc/pressure/cpu")
	m := someAvg60.FindStringSubmatch(text)
	if m == nil || parse(m[1]) < 25 {
		return ""
	}
	return m[0]
}
