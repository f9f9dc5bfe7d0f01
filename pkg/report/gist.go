package report

import (
	"regexp"
	"slices"
	"strings"
)

// afterthought begins the end of a text that says nothing, and would be quoted for its end: what evicting others
// would not bring (the scheduler's framework/preemption), whom the driver of Longhorn had asked, where in its own
// command PowerShell stopped, how a program is called (xfsprogs, LVM, open-iscsi) and which pages tell of it (util-linux,
// nfs-utils, cifs-utils), govmomi's number of a call, and what efs-utils tries after it has said why it failed.
var afterthought = regexp.MustCompile(` preemption: |, code=Server Error, detail=\] from \[|\] from \[http://longhorn-backend|\\r\\nAt line:| At line:1 char:` +
	"|\\\\nUsage: | [Uu]sage: +\\S+ [-\\[</]| Run `\\S+ --help'| (?:Please )?(?:[Rr]efer to|[Ss]ee) the mount\\.| Please see mount\\(| For several filesystems \\(e\\.g\\. nfs, cifs\\) you might" +
	`| dmesg\(1\) may have more information| In some cases useful info is found in syslog|\.? opId: \\?"| goroutine \d+ \[running\]| See https://docs\.aws\.amazon\.com/console/efs/| Attempting to lookup mount target ip address using botocore`)

// aside is what stands between: efs-utils cannot start its watchdog in a container, aws-sdk-go tells the number of the request.
var aside = regexp.MustCompile(`Could not start amazon-efs-mount-watchdog, unrecognized init system \\?"[^"]*" ?|,? ?status code: \d+, request id: [0-9a-f-]+`)

// cues are words of each of these: without one, which is the rule, no expression is looked for.
var cues = []string{" preemption: ", "] from [", "At line:", "sage: ", "--help'", "the mount.", "see mount(", "For several filesystems", "may have more information", "useful info is found in syslog",
	"opId: ", "goroutine ", "docs.aws.amazon.com", "using botocore", "amazon-efs-mount-watchdog", "request id: "}

// Gist is a text in one line without what says nothing in it.
func Gist(s string) string {
	if said, _, found := strings.Cut(s, "\nUsage: "); found && strings.TrimSpace(said) != "" { // e2fsprogs: usage() after com_err
		s = said
	}
	out := strings.Join(strings.Fields(s), " ")
	if !slices.ContainsFunc(cues, func(c string) bool { return strings.Contains(out, c) }) {
		return out
	}
	if at := afterthought.FindStringIndex(out); at != nil && at[0] > 0 {
		out = out[:at[0]]
	}
	return strings.TrimSpace(aside.ReplaceAllString(out, ""))
}

// wrappings stand before what a component says: what was done is known to who reads it, and each of those that pass
// a status of gRPC on puts its code in front.
var wrappings = regexp.MustCompile(`rpc error: code = \w+ desc = |failed for volume "[^"]*" : `)

// Innermost is a text from the first of its wrappings on after which it fits, else from the last; wrapped is false where
// it has none.
func Innermost(text string, fits func(string) bool) (inner string, wrapped bool) {
	for _, at := range wrappings.FindAllStringIndex(text, -1) {
		if at[1] == len(text) {
			break
		}
		if inner, wrapped = text[at[1]:], true; fits(inner) {
			break
		}
	}
	return inner, wrapped
}
