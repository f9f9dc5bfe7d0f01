package smb

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// What the server's answer is about (fs/smb/client/smb2maperror.c maps it to an errno).
var (
	logon = []string{
		"STATUS_LOGON_FAILURE", "STATUS_WRONG_PASSWORD", "STATUS_ACCOUNT_RESTRICTION", "STATUS_INVALID_LOGON_HOURS",
		"STATUS_INVALID_WORKSTATION", "STATUS_PASSWORD_RESTRICTION", "STATUS_PASSWORD_EXPIRED", "STATUS_ACCOUNT_DISABLED",
		"STATUS_ACCOUNT_LOCKED_OUT", "STATUS_PASSWORD_MUST_CHANGE", "STATUS_NO_SUCH_USER", "STATUS_ACCOUNT_EXPIRED",
	}
	rights = []string{"STATUS_ACCESS_DENIED", "STATUS_NETWORK_ACCESS_DENIED"}
	limits = []string{"STATUS_INSUFFICIENT_RESOURCES", "STATUS_REQUEST_NOT_ACCEPTED", "STATUS_INSUFF_SERVER_RESOURCES"}
	paths  = []string{"STATUS_OBJECT_NAME_NOT_FOUND", "STATUS_OBJECT_PATH_NOT_FOUND", "STATUS_OBJECT_NAME_INVALID"}
)

// LogonRefused asks whether the kernel logged that the server refused to log the user on:
// by a STATUS of an account, or by any refusal of the session's setup. The numbers of Windows tell it
// without a log.
func (s Share) LogonRefused(pl *evidence.Place) evidence.Answer {
	if s.Text != nil && slices.Contains(logonOfWindows, last(windowsError, s.Text.Raw)) {
		return evidence.Yes(s.Text.Evidence())
	}
	setup := s.logged(pl, func(text string) bool { return strings.Contains(text, "Send error in SessSetup") })
	refused := s.logged(pl, func(text string) bool {
		return statusIn(text, logon) || setup.Yes() && statusIn(text, rights) || strings.HasSuffix(text, "SessSetup = -13") // EACCES
	})
	if refused.Yes() {
		return refused.With(setup.Facts()...)
	}
	return refused
}

// RightsRefused asks whether the kernel logged that the user was logged on, and refused
// the share.
func (s Share) RightsRefused(pl *evidence.Place) evidence.Answer {
	return evidence.All(s.logged(pl, func(text string) bool { return statusIn(text, rights) }), evidence.Not(s.LogonRefused(pl)))
}

// Misfit is a way in which a request does not fit, by mount.cifs's number and by the
// kernel's line.
type Misfit struct {
	Says string // share | path | dialect | closed | option | kerberos | limit; of a mount that stands: unshared | gone | replaced
	Is   evidence.Answer
	Line evidence.Answer

	Option string // that the kernel does not know
}

// MisfitOf finds what does not fit about a share: the request to mount it, or what stands below its mount.
func (s Share) MisfitOf(pl *evidence.Place) Misfit {
	is := s.Unfit()
	if !is.Yes() {
		return s.lost(pl)
	}
	m := s.refused(pl)
	m.Is = is
	return m
}

// refused finds what the kernel logged of a request that was refused; without a line, the
// number of mount.cifs tells the kind.
func (s Share) refused(pl *evidence.Place) Misfit {
	all := []struct {
		says  string
		codes []int
		pick  func(string) bool
	}{
		{"share", []int{2}, func(t string) bool {
			return strings.Contains(t, "BAD_NETWORK_NAME")
		}},
		{"path", []int{2}, func(t string) bool { return statusIn(t, paths) }},
		{"dialect", []int{95}, func(t string) bool { return strings.Contains(t, "Dialect not supported by server") }},
		{"option", []int{22}, unknownOption},
		{"kerberos", []int{126}, func(t string) bool {
			return strings.Contains(t, "SessSetup = -126") || strings.Contains(t, "return code = -126")
		}},
		{"user", []int{otherUser}, func(string) bool { return false }},
		{"limit", []int{5, 11}, func(t string) bool { return statusIn(t, limits) }},
		{"closed", []int{112}, func(t string) bool { return strings.Contains(t, "return code = -112") }},
	}
	for _, m := range all {
		if slices.Contains(m.codes, s.Code()) {
			if line := s.logged(pl, m.pick); line.Yes() {
				return Misfit{Says: m.says, Line: line, Option: optionIn(line.Facts()[0].Text)}
			}
		}
	}
	if option, line := s.unknownOption(pl); s.Code() == 22 && line.Yes() {
		return Misfit{Says: "option", Line: line, Option: option}
	}
	for _, m := range all {
		if slices.Contains(m.codes, s.Code()) && m.says != "limit" { // an I/O error alone may be anything
			line := s.logged(pl, m.pick)
			if line.No() { // newer kernels print some of these lines only once
				line = evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/kernelLog", Node: pl.Node, Why: "no line that says what was refused"})
			}
			return Misfit{Says: m.says, Line: line}
		}
	}
	return Misfit{}
}

// LacksCipher asks whether the kernel logged that it has not what it needs to sign or
// encrypt (smb3_crypto_aead_allocate, SMB2_negotiate in fs/smb/client): the mount then
// ends with ENOENT, whatever the server has.
func (s Share) LacksCipher(pl *evidence.Place) evidence.Answer {
	return s.logged(pl, func(text string) bool {
		return strings.Contains(text, "Failed alloc encrypt aead") || strings.Contains(text, "crypto alloc failed")
	})
}

// unknownOption finds the kernel's fresh line about an option that the PV really has, or with which
// mount was called: the options are read before a mount begins, and the line names no server (fs/fs_parser.c;
// before 5.11 cifs_parse_mount_options, which quotes the option with its value).
func (s Share) unknownOption(pl *evidence.Place) (string, evidence.Answer) {
	if pl.View == nil {
		return "", evidence.No()
	}
	options := s.options(pl.Volume)
	for _, l := range pl.View.Facts.Kernel {
		unknown := optionIn(l.Text)
		if !ofCIFS.MatchString(l.Text) || unknown == "" || l.At.IsZero() || pl.X.Age(l.At) >= fresh || s.before(pl, l.At) {
			continue
		}
		if fact, ok := options[unknown]; ok {
			return unknown, evidence.Yes(evidence.FromNode(pl.Node, "@kmsg", l.Text), fact)
		}
	}
	return "", evidence.No()
}

// options are those that the PV has, and those with which mount was called for the share, which an inline
// volume has among its attributes, each with where it stands.
func (s Share) options(v *snapshot.Volume) map[string]report.Evidence {
	out := map[string]report.Evidence{}
	if s.Text != nil {
		words := strings.Fields(s.Text.Args)
		for i, w := range words[:max(len(words)-1, 0)] {
			if w != "-o" {
				continue
			}
			for _, o := range strings.Split(words[i+1], ",") {
				name, _, _ := strings.Cut(o, "=")
				out[name] = s.Text.Evidence()
			}
		}
	}
	if v.PV != nil {
		for _, o := range v.PV.Spec.MountOptions {
			name, _, _ := strings.Cut(o, "=")
			out[name] = evidence.FromAPI("PersistentVolume "+v.PV.Name, "spec.mountOptions", o)
		}
	}
	return out
}

func unknownOption(text string) bool { return optionIn(text) != "" }

// optionIn is the name of the option that a line of the kernel does not know.
func optionIn(text string) string {
	for _, says := range []string{"Unknown parameter ", "Unknown mount option "} {
		if _, option, ok := strings.Cut(text, says); ok {
			name, _, _ := strings.Cut(strings.Trim(option, `'"`), "=")
			return name
		}
	}
	return ""
}

// Secret is the Secret with which a volume is mounted on a node: that of the PV, of the
// class for a claim without one; ok is false when none is named.
func Secret(v *snapshot.Volume) (namespace, name string, ok bool) {
	if v.PV != nil && v.PV.Spec.CSI != nil {
		if r := v.PV.Spec.CSI.NodeStageSecretRef; r != nil {
			return r.Namespace, r.Name, true
		}
		if r := v.PV.Spec.CSI.NodePublishSecretRef; r != nil {
			return r.Namespace, r.Name, true
		}
		return "", "", false
	}
	if v.PV != nil && v.PV.Spec.AzureFile != nil {
		s := v.PV.Spec.AzureFile
		if namespace, _ = v.ClaimRef(); s.SecretNamespace != nil && *s.SecretNamespace != "" {
			namespace = *s.SecretNamespace
		}
		return namespace, s.SecretName, s.SecretName != ""
	}
	if v.PV != nil || v.Class == nil {
		return "", "", false
	}
	for _, kind := range []string{"provisioner", "node-stage"} {
		name = v.Class.Parameters["csi.storage.k8s.io/"+kind+"-secret-name"]
		if namespace = v.Class.Parameters["csi.storage.k8s.io/"+kind+"-secret-namespace"]; name != "" && !strings.Contains(name, "${") {
			return namespace, name, true
		}
	}
	return "", "", false
}
