package nfs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// The words of utils/mount/error.c and network.c in nfs-utils, and of the kubelet.
var (
	denied    = pattern.MustCompile(`access denied by server while mounting|reason given by server: (No such file or directory|Permission denied)`)
	wrongPath = pattern.MustCompile(`reason given by server: No such file or directory`)
	relayed   = pattern.MustCompile(`denied by server while mounting (?:127\.0\.0\.1|localhost|\[::1\]):`)
	notOwner  = pattern.MustCompile(`(?i)applyFSGroup failed.*(?:operation not permitted|permission denied)`)
	// forbidden has a second meaning: a security module of the node says the same.
	forbidden = pattern.MustCompile(`mount\.nfs4?: (?:mount\(2\): )?Operation not permitted`)
)

// Denied are the refusals of a volume's server, one for each node, as far as it said them
// of an export that stands.
func Denied(pl *evidence.Place) []Refusal {
	share := volume.KindOf(pl.X, pl.Volume) == volume.NFS
	var out []Refusal
	for _, at := range pl.AtConsumers() {
		r, ok := refused(at, func(t evidence.Text) bool {
			low := strings.ToLower(t.Raw)
			if !strings.Contains(low, "denied") && !strings.Contains(low, "permitted") && !strings.Contains(low, "reason given") {
				return false
			}
			return denied.MatchString(t.Raw) || forbidden.MatchString(t.Raw) || share && notOwner.MatchString(t.Raw)
		})
		if ok {
			out = append(out, r)
		}
	}
	if sm := pl.X.ShareManagerPod(pl.Volume); sm != nil && len(out) > 0 && sm.Status.StartTime != nil && out[0].Text.At.Sub(sm.Status.StartTime.Time) < time.Minute {
		return nil // the share makes its export anew; the next attempt tells
	}
	return out
}

// Node is where it happened.
func (r Refusal) Node() string { return r.pl.Node }

// Place is where it happened, with the volume.
func (r Refusal) Place() *evidence.Place { return r.pl }

// WrongPath tells whether the server has no such path.
func (r Refusal) WrongPath() bool { return wrongPath.MatchString(r.Text.Raw) }

// Squashed tells whether the kubelet, which is root, may not change owners on the share.
func (r Refusal) Squashed() bool {
	return notOwner.MatchString(r.Text.Raw) && !denied.MatchString(r.Text.Raw)
}

// Relayed tells whether the mount went through a tunnel on the node, as that of a managed file
// system with TLS does (mount.efs, mount.aznfs): then no address of the node is in question.
func (r Refusal) Relayed() bool { return relayed.MatchString(r.Text.Raw) }

// Answer is the server's word.
func (r Refusal) Answer() string {
	switch {
	case r.WrongPath():
		return "no such file or directory"
	case r.Squashed() && !strings.Contains(strings.ToLower(r.Text.Raw), "operation not permitted"):
		return "permission denied"
	case !denied.MatchString(r.Text.Raw):
		return "operation not permitted"
	}
	return "access denied"
}

// ByServer asks whether it is the export that refuses: not seen where a security module of
// the node says the same, or the ticket of Kerberos may be what is refused.
func (r Refusal) ByServer() evidence.Answer {
	var lacks []evidence.Lack
	if forbidden.MatchString(r.Text.Raw) && !denied.MatchString(r.Text.Raw) {
		lacks = append(lacks, evidence.Lack{Need: "that it is the server that does not permit it", Node: r.pl.Node, Why: "a security module of the node says the same"})
	}
	if o := r.Kerberos(); o != "" {
		lacks = append(lacks, evidence.Lack{Need: "the Kerberos credentials of node " + r.pl.Node, Node: r.pl.Node, Why: o + " may be what the server refuses"})
	}
	if len(lacks) > 0 {
		return evidence.Unseen(lacks...)
	}
	return evidence.Yes()
}

// Kerberos is the option by which the mount wants a ticket, or nothing. A node without one is told EACCES by
// its own rpc.gssd(8), for which mount.nfs has the same words as for the server's.
func (r Refusal) Kerberos() string {
	for _, o := range r.options() {
		if strings.HasPrefix(o, "sec=krb5") {
			return o
		}
	}
	return ""
}

// From are the addresses from which the node speaks to NFS servers: the export list is
// about these, not about the Node's InternalIP.
func (r Refusal) From() (addresses []string, facts []report.Evidence) {
	for _, m := range mountsOn(r.pl.X, r.pl.View) {
		if a := m.SuperValue("clientaddr"); a != "" && !slices.Contains(addresses, a) {
			addresses = append(addresses, a)
			facts = append(facts, evidence.FromMount(r.pl.Node, nil, m.Mount))
		}
	}
	return addresses, facts
}

// Exports are the lines of the export where the server is a node that was looked at.
func (r Refusal) Exports() []report.Evidence {
	_, path, ok := strings.Cut(r.Source(), ":")
	if !ok {
		return nil
	}
	var out []report.Evidence
	for _, name := range Seen(r.pl.X) {
		for i, line := range strings.Split(r.pl.X.View(name).Facts.Files["etc/exports"].Content, "\n") {
			if f := strings.Fields(line); len(f) > 0 && f[0] == path {
				out = append(out, evidence.FromNode(name, fmt.Sprintf("etc/exports:%d", i+1), line))
			}
		}
	}
	return out
}
