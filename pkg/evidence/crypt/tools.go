package crypt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/machine"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// fresh is how long a line of the kernel speaks of the present.
const fresh = 10 * time.Minute

// The words of nsenter and exec, of cryptsetup, and of the kernel.
var (
	notRun        = pattern.MustCompile(`(?s)cryptsetup.*exit status 127\b`)
	notFound      = pattern.MustCompile(`(?i)cryptsetup"?:? .{0,80}(no such file|not found)|failed to execute cryptsetup: no such file`)
	noCipher      = pattern.MustCompile(`Check that (?:the )?kernel supports (\S+) cipher`)
	unknownTarget = "crypt: unknown target type"
	noAlgorithm   = "crypt: Error allocating crypto tfm" // crypt_alloc_tfms in drivers/md/dm-crypt.c
)

// OpensHere tells whether a pod waits for the place's encrypted volume, and it is this
// node that has to open it: the share's server, else where a pod waits. Of a volume that
// only its driver's words or its header call encrypted the kernel has to have refused the target.
func OpensHere(pl *evidence.Place) bool {
	v := pl.Volume
	switch {
	case len(v.Waiting()) == 0 || !v.Encrypted() && !(NoTarget(pl).Yes() && (attempts(pl).Yes() || KeyOf(pl).Content.Type == "crypto_LUKS")):
		return false
	case v.RegularRWX():
		return slices.Contains(pl.X.DeviceNodes(v), pl.Node)
	}
	return len(v.WaitingOn(pl.Node)) > 0
}

// said finds a fresh text with a form.
func said(pl *evidence.Place, word string, form *pattern.Pattern) evidence.Answer {
	return pl.Refused().Say(func(t evidence.Text) bool { return strings.Contains(t.Raw, word) && form.MatchString(t.Raw) })
}

// NotRun asks for a fresh exit status 127 of cryptsetup: there is no such program.
func NotRun(pl *evidence.Place) evidence.Answer { return said(pl, "exit status 127", notRun) }

// NotFound asks for fresh words that the program was not found where it was looked for.
func NotFound(pl *evidence.Place) evidence.Answer { return said(pl, "cryptsetup", notFound) }

// NoCipher asks for fresh words of cryptsetup that the kernel does not encrypt.
func NoCipher(pl *evidence.Place) evidence.Answer { return said(pl, "Check that", noCipher) }

// Cipher is the cipher of these words.
func Cipher(pl *evidence.Place) string {
	for _, t := range pl.Refused() {
		if m := noCipher.FindStringSubmatch(t.Raw); m != nil {
			return m[1]
		}
	}
	return ""
}

// Complained asks for anything that says that a program or the module is missing: fresh
// words, or Longhorn's own check of a node on which the volume is not mounted.
func Complained(pl *evidence.Place) evidence.Answer {
	return evidence.Any(NotFound(pl), NoCipher(pl), checkedByLonghorn(pl))
}

func checkedByLonghorn(pl *evidence.Place) evidence.Answer {
	n := pl.X.LHNode(pl.Node)
	if n == nil || !pl.Volume.IsLonghorn() || !fails(pl) {
		return evidence.No()
	}
	for _, kind := range []string{"RequiredPackages", "KernelModulesLoaded"} {
		c, ok := n.Conditions.Get(kind)
		if ok && c.Status == "False" && (strings.Contains(c.Message, "cryptsetup") || strings.Contains(c.Message, "dm_crypt")) {
			return evidence.Yes(evidence.FromAPI("nodes.longhorn.io "+pl.Node, "status.conditions["+kind+"]", c.Reason+": "+c.Message))
		}
	}
	return evidence.No()
}

// fails tells whether it is the opening that is to be explained: a mount is refused, or
// the server of the share does not come up.
func fails(pl *evidence.Place) bool {
	if s := pl.Volume.Longhorn.ShareManager; pl.Volume.RegularRWX() {
		return s != nil && s.State != "running"
	}
	return slices.ContainsFunc(pl.Refused(), evidence.Text.MountEvent)
}

// NoTarget asks whether the kernel of the node wanted its target crypt just now and did
// not get it.
func NoTarget(pl *evidence.Place) evidence.Answer {
	if machine.Loaded(pl.X, pl.Node, "dm_crypt").Yes() {
		return evidence.No()
	}
	return kernelSaid(pl, unknownTarget)
}

// WantsCipher asks whether a cipher is what is missing: by the words of cryptsetup, which
// it says of every mapping that fails, or by the kernel's.
func WantsCipher(pl *evidence.Place) evidence.Answer {
	return evidence.Any(NoCipher(pl), kernelSaid(pl, noAlgorithm))
}

// NoAlgorithm asks whether the kernel's dm_crypt wanted a cipher just now that the kernel
// does not have. A log that does not say so says nothing.
func NoAlgorithm(pl *evidence.Place) evidence.Answer {
	if a := kernelSaid(pl, noAlgorithm); a.Yes() {
		return a
	}
	return evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/" + string(probes.KernelLog), Node: pl.Node, Why: "the kernel's own words on the cipher"})
}

// kernelSaid finds a fresh line of the node's kernel.
func kernelSaid(pl *evidence.Place, words string) evidence.Answer {
	if pl.View == nil {
		return evidence.No()
	}
	for _, l := range pl.View.KernelLines() {
		if strings.Contains(l.Text, words) && !l.At.IsZero() && pl.X.Age(l.At) < fresh {
			return evidence.Yes(evidence.FromKernel(pl.Node, l))
		}
	}
	return evidence.No()
}

// dmRules are the udev rules of device-mapper, which acknowledge a new mapping.
var dmRules = []string{"10-dm.rules", "95-dm-notify.rules"}

// NoRules asks whether the node has no udev rules of device-mapper, without which nobody
// acknowledges a new mapping (dm_udev_wait in libdevmapper).
func NoRules(pl *evidence.Place) evidence.Answer {
	if pl.View == nil {
		return evidence.Unseen(pl.Probed().Lacks()...)
	}
	listed := false
	for path := range pl.View.Facts.Files {
		_, name, ok := strings.Cut(path, "udev/rules.d/")
		listed = listed || ok && name != ""
		if slices.Contains(dmRules, name) {
			return evidence.No(evidence.FromNode(pl.Node, path, "there"))
		}
	}
	if !listed && !pl.View.Facts.ToolsRead() {
		return evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/" + string(probes.Files), Node: pl.Node, Why: "the directories of udev rules were not read"})
	}
	return machine.Read(pl.X, pl.Node, probes.Files, "usr/lib/udev/rules.d", "lib/udev/rules.d", "etc/udev/rules.d").
		Nothing(evidence.FromNode(pl.Node, "{usr/lib,lib,etc}/udev/rules.d", "no "+strings.Join(dmRules, ", no ")))
}

// WaitsForUdev asks whether a cryptsetup of the node sleeps on a semaphore, and which.
func WaitsForUdev(pl *evidence.Place) (pid int, a evidence.Answer) {
	if pl.View == nil {
		return 0, evidence.Unseen(pl.Probed().Lacks()...)
	}
	key := cookie(pl)
	for _, q := range pl.View.Facts.Processes {
		asleep := strings.Contains(q.WChan+q.Stack, "semtimedop") || strings.Contains(q.WChan+q.Stack, "semop") || key.Text != ""
		if q.Comm == "cryptsetup" && asleep {
			return q.PID, evidence.Yes(evidence.FromNode(pl.Node, fmt.Sprintf("proc/%d/wchan", q.PID), strings.TrimSpace(q.Comm+" "+q.WChan)), key)
		}
	}
	return 0, evidence.No()
}

// cookie quotes a semaphore whose key begins with 0x0d4d: device-mapper's
// (DM_COOKIE_MAGIC in libdm).
func cookie(pl *evidence.Place) (e report.Evidence) {
	const table = "proc/sysvipc/sem"
	for _, line := range strings.Split(pl.View.Facts.Files[table].Content, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if key, err := strconv.ParseInt(fields[0], 10, 64); err == nil && uint32(key)>>16 == 0x0d4d {
			return evidence.FromNode(pl.Node, table, fmt.Sprintf("key 0x%08x (%s)", uint32(key), strings.TrimSpace(line)))
		}
	}
	return e
}
