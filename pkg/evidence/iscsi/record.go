package iscsi

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Record is a record of open-iscsi's database of nodes that iscsiadm refuses, and why.
type Record struct {
	probes.ISCSIRecord
	Why     string
	Damaged bool // the file itself, whatever reads it
}

// badRecords are the damaged records of a node, and those that hold a parameter which
// some iscsiadm of the cluster refused.
func badRecords(view *snapshot.NodeView, unknown []string) []Record {
	var out []Record
	for _, r := range view.Facts.ISCSI.Records {
		if damaged(r.Problem) {
			out = append(out, Record{r, r.Problem, true})
			continue
		}
		for _, name := range unknown {
			if _, ok := r.Values[name]; ok {
				out = append(out, Record{r, "it holds " + name, false})
				break
			}
		}
	}
	return out
}

// damaged leaves out what only the probe could not read, and directories.
func damaged(problem string) bool {
	return problem != "" && !strings.HasPrefix(problem, "cannot be read") && !strings.HasPrefix(problem, "is a directory")
}

// works tells whether the node's own iscsiadm reads records with the parameter: a session
// of such a record's target is logged in since the boot.
func works(view *snapshot.NodeView, bad []Record) bool {
	return slices.ContainsFunc(bad, func(r Record) bool {
		s := view.Session(r.Target)
		return s != nil && s.State == "LOGGED_IN" && !r.Damaged
	})
}

// Database is how the database of a node that was looked at is judged.
type Database struct {
	Bad    []Record
	Is     evidence.Answer // that there are such records, with those that count
	Proven evidence.Answer // that this node's iscsiadm refuses one
}

// DatabaseOf judges the records of the place's node: a damaged file, or a complaint about
// a parameter that a file still holds, is proof.
func DatabaseOf(pl *evidence.Place, said Complaint) Database {
	unknown := Refused(pl.X)
	d := Database{Bad: badRecords(pl.View, unknown)}
	facts, proven := []report.Evidence{}, false
	for i, r := range d.Bad {
		proven = proven || r.Damaged || said.Parameter != "" && r.Values[said.Parameter] != ""
		if i < 6 {
			facts = append(facts, r.evidence(pl.Node, unknown))
		}
	}
	d.Is, d.Proven = evidence.When(len(d.Bad) > 0, append(facts, said.Is.Facts()...)...), evidence.Yes()
	if !proven {
		d.Proven = evidence.Unseen(evidence.Lack{Need: "whether the iscsiadm of node " + pl.Node + " knows the parameter", Node: pl.Node, Why: "nobody attached there lately, so no error is no proof of health"})
	}
	if !proven && works(pl.View, d.Bad) {
		d.Is = evidence.No()
	}
	return d
}

// evidence quotes a record: the parameter where that is what is wrong.
func (r Record) evidence(node string, unknown []string) report.Evidence {
	text := fmt.Sprintf("%s, %d bytes", r.Why, r.Size)
	for _, name := range unknown {
		if v, ok := r.Values[name]; ok && !r.Damaged {
			text = name + " = " + v
		}
	}
	return evidence.FromNode(node, r.Path, text)
}

// Removal says which directories may go: damaged, and of targets without a session. The
// others must be kept until their volume is detached.
func (d Database) Removal(view *snapshot.NodeView) string {
	var free, busy []string
	for _, r := range d.Bad {
		list := &free
		if len(view.SessionsOf(r.Target)) > 0 {
			list = &busy
		}
		if dir := path.Dir(r.Path); !slices.Contains(*list, dir) {
			*list = append(*list, dir)
		}
	}
	text := "On node " + view.Name + " remove exactly these record directories, whose targets have no session: " + strings.Join(free, ", ") + ". The next attempt succeeds by itself."
	if len(free) == 0 {
		text = "All damaged records of node " + view.Name + " belong to targets with a session: detach these volumes first."
	}
	if len(busy) > 0 {
		text += " Keep these until their session is gone, because their logout needs them: " + strings.Join(busy, ", ") + "."
	}
	return text + " Versions of open-iscsi that read both forms: up to 2.1.11, and from 2.1.13 on."
}

// The words of _idbm_recs_read in libopeniscsiusr/idbm.c; the exit
// statuses 6 and 7 of iscsiadm (ISCSI_ERR_IDBM, ISCSI_ERR_INVAL in include/iscsi_err.h),
// and the function that reads all records.
var (
	unknownParameter = pattern.MustCompile(`Unknown parameter name ([A-Za-z0-9_.\[\]-]+)`)
	invalidFile      = pattern.MustCompile(`config file (\S+?) invalid`)
	databaseStatus   = pattern.MustCompile(`(?s)iscsi(?:adm|:).*exit status [67]\b|_idbm_recs_read`)
)

// Complaint is what iscsiadm of a node said about its database.
type Complaint struct {
	Parameter string // that it does not know
	File      string // that it calls invalid
	Is        evidence.Answer
}

// ComplaintOf reads the fresh texts of the place's node.
func ComplaintOf(pl *evidence.Place) Complaint {
	c := Complaint{Is: evidence.No()}
	for _, t := range Said(pl) {
		name, file := refusedIn(t.Raw)
		if name == "" && file == "" {
			continue
		}
		if !c.Is.Yes() {
			c = Complaint{name, file, evidence.Yes(t.Evidence())}
		}
		if c.Parameter == "" {
			c.Parameter = name
		}
	}
	return c
}

func refusedIn(text string) (parameter, file string) {
	if !strings.Contains(text, "Unknown parameter name") && !strings.Contains(text, "config file") {
		return "", ""
	}
	if m := unknownParameter.FindStringSubmatch(text); m != nil {
		parameter = strings.TrimRight(m[1], ".")
	}
	if m := invalidFile.FindStringSubmatch(text); m != nil {
		file = m[1]
	}
	return parameter, file
}

// StatusOfDatabase asks whether iscsiadm ended with the bare status of a database that it
// cannot read: an invalid initiator name ends with the same number, and then says so, as does a
// record that could not be written ("Could not add/update", exec_disc_op in usr/iscsiadm.c).
func StatusOfDatabase(pl *evidence.Place) evidence.Answer {
	return evidence.Texts(Said(pl)).Say(func(t evidence.Text) bool {
		return databaseStatus.MatchString(t.Raw) && !nameWords.MatchString(t.Raw) && !strings.Contains(t.Raw, "Could not add/update")
	})
}

// Refused are all parameters that some node's iscsiadm refused lately, sorted: where
// nobody attached anything, nobody complained.
func Refused(x *snapshot.Index) []string {
	return x.Memo("iscsi.Refused", func() any {
		found := map[string]bool{}
		take := func(text string) {
			if name, _ := refusedIn(text); name != "" {
				found[name] = true
			}
		}
		for _, e := range x.Cluster.Events {
			if x.Age(e.Last) < lately {
				take(e.Message)
			}
		}
		for _, va := range x.Cluster.Attachments {
			if e := va.Status.AttachError; e != nil && x.Age(e.Time.Time) < lately {
				take(e.Message)
			}
		}
		fresh := func(at time.Time) bool { return !at.IsZero() && x.Age(at) < lately }
		for _, l := range evidence.Vouched(x) {
			for _, line := range l.Lines {
				if strings.Contains(line, "Unknown parameter name") && fresh(message.Date(line, x.TakenAt)) {
					take(line)
				}
			}
		}
		for _, node := range slices.Sorted(maps.Keys(x.NodeViews)) {
			for l := range evidence.HostLines(x, x.View(node)) {
				if strings.Contains(l.Text, "Unknown parameter name") && fresh(l.At()) {
					take(l.Text)
				}
			}
		}
		return slices.Sorted(maps.Keys(found))
	}).([]string)
}

// AlsoOn lists "NODE: PATH" of the first bad record of every other node that was looked at.
func AlsoOn(pl *evidence.Place) []string {
	unknown := Refused(pl.X)
	all := pl.X.Memo("iscsi.AlsoOn", func() any {
		var out []string
		for _, n := range slices.Sorted(maps.Keys(pl.X.NodeViews)) {
			view := pl.X.View(n)
			if bad := badRecords(view, unknown); len(bad) > 0 && !works(view, bad) {
				out = append(out, n+": "+bad[0].Path)
			}
		}
		return out
	}).([]string)
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return strings.HasPrefix(s, pl.Node+":") })
}
