package transport

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// judgement is the state of one disk's way to its storage. Of lost and recovering
// at most one is said; both are empty when nothing is wrong now.
type judgement struct {
	lost       string
	recovering string
	state      string
	evidence   []report.Evidence
}

// judge reads the state of a disk, its session or controller, and the kernel's
// lines about it since it was attached. Of an offline disk without a session entry it
// must be known that it is one of iSCSI.
func judge(view *snapshot.NodeView, b *probes.BlockDevice, iscsi bool) judgement {
	if strings.HasPrefix(b.Name, "nvme") {
		return judgeNVMe(view, b)
	}
	s := view.SessionOfDisk(b.Name)
	j := judgement{state: b.State}
	at := "sys/class/block/" + b.Name + "/device/state"
	if b.State != "" && b.State != "running" {
		j.evidence = append(j.evidence, diagnosis.FromNode(view.Name, at, b.State))
	}
	var ended *probes.KernelLine
	if s != nil {
		j.evidence = append(j.evidence, diagnosis.FromNode(view.Name, "sys/class/iscsi_session/"+s.Name+"/state", s.State))
		ended = lastLine(view, kmsg.ISCSIRecoveryEnd, s.Name, attachedAt(view, b))
	}
	switch {
	case b.State == "offline" || b.State == "transport-offline":
		if s == nil && !iscsi && !iscsiDisk(b) {
			return judgement{} // FC, SAS: no session that this rule knows
		}
		j.lost = fmt.Sprintf("its state is %s", b.State)
	case s == nil || s.State == "LOGGED_IN" || s.State == "":
		return judgement{}
	case ended != nil:
		j.lost = fmt.Sprintf("%s is %s", s.Name, s.State)
	case s.State == "FAILED" && outlasted(view, s):
		j.lost = fmt.Sprintf("%s is FAILED for longer than its recovery time of %s s", s.Name, s.RecoveryTmo)
	case s.State == "FAILED":
		j.recovering = fmt.Sprintf("%s is FAILED and the disk %s (recovery time %s s)", s.Name, orUnknown(b.State), orUnknown(s.RecoveryTmo))
	default: // FREE without a word of the kernel: the recovery has ended or never began
		j.recovering = fmt.Sprintf("%s is %s", s.Name, s.State)
	}
	j.tell(view, s, ended, b)
	return j
}

// tell adds the kernel's lines and the sentence about the time-out.
func (j *judgement) tell(view *snapshot.NodeView, s *probes.ISCSISession, ended *probes.KernelLine, b *probes.BlockDevice) {
	if ended != nil {
		j.evidence = append(j.evidence, lineEvidence(view.Name, *ended))
		j.lost += fmt.Sprintf(" (%s)", strings.TrimSpace(ended.Text))
	}
	if s != nil && s.State == "LOGGED_IN" && j.lost != "" {
		j.lost += fmt.Sprintf("; %s is LOGGED_IN again, which does not bring this disk back", s.Name)
	}
	for _, kind := range []string{kmsg.OfflineDevice, kmsg.ISCSIConnError} {
		names := []string{b.Name, b.HCTL}
		if s != nil && kind == kmsg.ISCSIConnError {
			names = []string{"connection" + strings.TrimPrefix(s.Name, "session") + ":0"}
		}
		for _, n := range names {
			if l := lastLine(view, kind, n, attachedAt(view, b)); n != "" && l != nil {
				j.evidence = append(j.evidence, lineEvidence(view.Name, *l))
				break
			}
		}
	}
}

// iscsiDisk tells whether a disk without a session entry is one of iSCSI: tgt's
// vendor name is the only mark that such a disk keeps.
func iscsiDisk(b *probes.BlockDevice) bool { return strings.TrimSpace(b.Vendor) == "IET" }

// outlasted tells whether the connection broke longer ago than the session waits.
func outlasted(view *snapshot.NodeView, s *probes.ISCSISession) bool {
	tmo, err := strconv.Atoi(s.RecoveryTmo)
	now := view.Facts.Identity.Uptime
	if err != nil || tmo <= 0 || now == 0 {
		return false
	}
	l := lastLine(view, kmsg.ISCSIConnError, "connection"+strings.TrimPrefix(s.Name, "session")+":0", 0)
	return l != nil && now-time.Duration(l.Micros)*time.Microsecond > time.Duration(tmo)*time.Second
}

// attachedAt is when the kernel made the disk under its present name, in
// microseconds since boot; 0 when the log does not reach back so far.
func attachedAt(view *snapshot.NodeView, b *probes.BlockDevice) int64 {
	at := int64(0)
	for _, l := range view.KernelLines(kmsg.SCSIAttached) {
		if strings.Contains(l.Text, "["+b.Name+"]") {
			at = l.Micros
		}
	}
	return at
}

// lastLine is the last line of a kind that names something, not older than a moment.
func lastLine(view *snapshot.NodeView, kind, name string, since int64) *probes.KernelLine {
	var found *probes.KernelLine
	lines := view.KernelLines(kind)
	for i := range lines {
		for _, n := range lines[i].Names {
			if n == name && lines[i].Micros >= since {
				found = &lines[i]
			}
		}
	}
	return found
}

func lineEvidence(node string, l probes.KernelLine) report.Evidence {
	at := fmt.Sprintf("@kmsg:%d", l.Sequence)
	if !l.At.IsZero() {
		at += " " + l.At.UTC().Format(time.RFC3339)
	}
	return diagnosis.FromNode(node, at, strings.TrimSpace(l.Text))
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// judgeNVMe reads the controllers of a disk on a fabric. A local PCIe controller has
// no session.
func judgeNVMe(view *snapshot.NodeView, b *probes.BlockDevice) judgement {
	j := judgement{state: "unreachable"}
	dead, connecting, live := "", "", false
	for _, c := range view.Facts.NVMe {
		if !holds(c.Namespaces, b.Name) || c.Transport == "pcie" || c.Transport == "" || c.State == "" {
			continue
		}
		j.evidence = append(j.evidence, diagnosis.FromNode(view.Name, "sys/class/nvme/"+c.Name+"/state", c.State))
		switch c.State {
		case "live":
			live = true
		case "dead", "deleting", "deleting (no IO)":
			dead = c.Name
		case "connecting", "resetting", "reconnecting":
			connecting = c.Name
		}
		for _, kind := range []string{kmsg.NVMeError, kmsg.NVMeRemoved} {
			if l := lastLine(view, kind, c.Name, 0); l != nil {
				j.evidence = append(j.evidence, lineEvidence(view.Name, *l))
			}
		}
	}
	switch {
	case live || dead == "" && connecting == "":
		return judgement{}
	case connecting != "":
		j.recovering = "controller " + connecting + " is connecting"
	default:
		j.lost = "controller " + dead + " is dead"
	}
	return j
}

// holds tells whether a controller's list has the disk, also by the name of one of
// its paths: nvme1c2n1 is a path of nvme1n1.
func holds(list []string, name string) bool {
	for _, n := range list {
		if n == name || withoutPath(n) == name {
			return true
		}
	}
	return false
}

func withoutPath(n string) string {
	c := strings.LastIndexByte(n, 'c')
	s := strings.LastIndexByte(n, 'n')
	if c < 0 || s < c {
		return n
	}
	return n[:c] + n[s:]
}
