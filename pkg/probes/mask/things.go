package mask

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// Sentence is Text for a sentence of ours, in which names of objects stand behind their kinds
// ("node key lost its session", "claim shop/token waits"): such a name says nothing of what
// follows it. known tells the names of the cluster's objects, "NAMESPACE/NAME" where they have one.
func Sentence(s string, known func(name string) bool) string { return text(s, true, known) }

// kind stands before the name of an object in a sentence of ours.
var (
	kind = pattern.MustCompile(`(?i)\b(?:nodes?|pods?|volumes?|claims?|class|StorageClass|PersistentVolume|PersistentVolumeClaim|Secret|ConfigMap|container|namespace|handle|image|group|map|disk|PVC|PV) ["“]?$`)
	// towards stands before one, too, when it is known.
	towards = pattern.MustCompile(`(?:…|\b(?:and|between|to|on|from|of|for|at)) ["“]?$`)
	// listing stands before a node of several: "Node by node: key: no disk has room; n2: ...".
	listing = pattern.MustCompile(`[:;,] $`)

	// apart is in names of objects, and in few words that name a secret in a sentence.
	apart = pattern.MustCompile(`[-.0-9]`)
	// listed are objects that Kubernetes lists: "unattached volumes=[secrets data]".
	listed = pattern.MustCompile(`\b(?:volumes|pods|nodes|claims)=?\[[^\]\n]*$`)
)

// object tells the name of an object by itself or by its kind.
func ofCluster(before, name string, known func(name string) bool) bool {
	name = strings.TrimRight(name, ".")
	before = before[max(0, len(before)-24):]
	return (before == "" || strings.Contains(name, "/") || kind.MatchString(before) || towards.MatchString(before)) && known(name) || listing.MatchString(before) && known("Node "+name)
}

var (
	// share is what a server exports: "nas-key:/export/a".
	share = pattern.MustCompile(`^:/[A-Za-z0-9._/-]*(?:[\s,;:"')\]\\]|$)`)
	// goingOn is a sentence behind a name: a key is no word of small letters.
	goingOn = pattern.MustCompile(`^: (?:[a-z]+(?:[\s:,;]|$)|[A-Z][a-z]+(?:: | [a-z]))`)
	host    = pattern.MustCompile(`^[a-z0-9]+(?:[.-][a-z0-9-]+)+$`)
)

// ofPlace tells a name that is a part of a path, of a share or of the name of a target: paths
// are called "/mnt/tokens", and what follows is the next field of a line.
func ofPlace(s string, start int, name string, assigned bool) bool {
	word := s[strings.LastIndexAny(s[:start], " \t\n\"',;[(<=")+1:]
	switch {
	case strings.Contains(word+name, "iqn."), strings.Contains(word+name, "nqn."):
		return !strings.HasPrefix(s[start+len(name):], "=")
	case strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "//") && strings.Count(name, "/") > 1:
		return !strings.HasPrefix(s[start+len(name):], "=") || partition.MatchString(s[start+len(name):])
	case assigned && strings.Contains(name, "/") && quoted.MatchString(s[start+len(name):]):
		return true
	case assigned && strings.Count(name, "/") > 1 && lineNumber.MatchString(s[start+len(name):]):
		return true
	case assigned && strings.HasPrefix(s[start+len(name):], ": ") && host.MatchString(name) && !ends(name) && goingOn.MatchString(s[start+len(name):]):
		before := s[max(0, start-24):start]
		return kind.MatchString(before) || towards.MatchString(before)
	case assigned:
		return host.MatchString(name) && share.MatchString(s[start+len(name):])
	}
	if (start > 0 && strings.IndexByte(`:="'`, s[start-1]) >= 0 || strings.IndexByte(`\"'`, s[start+len(name)]) >= 0) && field.MatchString(s[start+len(name):]) {
		return true
	}
	return listed.MatchString(s[max(0, start-300):start+len(name)]) || apart.MatchString(name) && kind.MatchString(s[max(0, start-24):start]) && !strings.HasPrefix(s[start+len(name):], ` "`) || strings.Contains(name, "/") || strings.HasSuffix(name, ".") || escape.MatchString(s[max(0, start-1):])
}

// quoted is what follows a dataset or a file in quotes that an error is about: "cannot open
// 'tank/token': dataset does not exist". A value in JSON is quoted itself.
var quoted = pattern.MustCompile(`^\\?["']: [^"'\\]`)

// field is the next field of a struct or a line, behind a value: "{NodeID:key Parameters:map[]",
// "node=key state=up".
var field = pattern.MustCompile(`^[\\"']* [A-Za-z_]+[:=]\S`)

// partition is the number in the name of a directory: "/export/key=1".
var partition = pattern.MustCompile(`^=[0-9]{1,3}(?:[/\s,;:"')\]]|$)`)

// lineNumber is that of a line in a file, as grep(1) writes it.
var lineNumber = pattern.MustCompile(`^:[0-9]+:?(?:\s|$)`)

// escape is a blank in a path, as mount tables write it.
var escape = pattern.MustCompile(`^\\[0-7]{3}`)

// Mount is Text for a line of a mount table (proc_pid_mountinfo(5)): where something is mounted
// is no name of a secret, and what stands behind it no value.
func Mount(line string) string {
	f := strings.SplitN(line, " ", 6)
	if len(f) < 6 || Text(line) == line {
		return Text(line)
	}
	for i := range f[:5] {
		f[i] = source(f[i])
	}
	before, after, _ := strings.Cut(f[5], " - ")
	kind, rest, ok := strings.Cut(after, " ")
	if !ok {
		return strings.Join(f[:5], " ") + " " + Text(f[5])
	}
	of, options, _ := strings.Cut(rest, " ")
	return strings.Join(f[:5], " ") + " " + Text(before) + " - " + kind + " " + source(of) + Text(" "+options)
}

// source masks what is mounted, or where.
func source(s string) string {
	if strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "//") || !strings.ContainsAny(s, "@%?=") {
		return s
	}
	return Text(s)
}

// Identity is Text for what names an object: a volume handle "pass:lun-3" is a backend and a LUN.
// Two that are masked would be one.
func Identity(s string) string {
	if path := strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "//"); strings.ContainsAny(s, " \t\n?@%\"'") || !path && strings.Contains(s, "=") {
		return Text(s)
	}
	return shapes.ReplaceAllString(s, Hidden)
}
