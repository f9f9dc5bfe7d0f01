package e2e

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// rehearsal is a kubectl that does what only looks and asks the API server whether it
// would do the rest. kubectl debug has no such option, so the pod that it would make is
// asked about instead; the words after "--" are read by a shell of the node's own kind.
const rehearsal = `kubectl() {
	for verb; do
		case $verb in
		-n | --namespace) skip=1 ;;
		-*) ;;
		*) if [ -n "$skip" ]; then skip=; else break; fi ;;
		esac
	done
	skip=
	case $verb in
	get | describe | logs | auth | explain | api-resources) command kubectl "$@" ;;
	debug) debug "$@" ;;
	mountdoctor)
		[ "$2" != explain ] || { command kubectl "$@"; return; }
		command kubectl "$@" --no-probe -o name
		case $? in 0 | 2 | 3) ;; *) return 1 ;; esac # 1: it could not do its work
		;;
	delete | patch | apply | create | replace | annotate | label | scale | cordon | uncordon | drain | taint) command kubectl "$@" --dry-run=server ;;
	*) echo "kubectl $verb cannot be rehearsed" >&2; return 1 ;;
	esac
}
debug() {
	if [ "$RISK" = read-only ]; then
		command kubectl "$@" </dev/null
		return
	fi
	for word; do
		case $word in
		--) break ;;
		node/*) node=${word#node/} ;;
		--image=*) image=${word#--image=} ;;
		esac
		[ "$last" != -n ] || namespace=$word
		last=$word
	done
	command kubectl get node "$node" -o name &&
		command kubectl run rehearsal -n "$namespace" --image="$image" --privileged --dry-run=server -o name -- true
}
`

// rehearsed are the commands that were tried, with what they may do.
var rehearsed = map[string]bool{}

// rehearse runs every command of an answer as it is printed: what looks is done, and what
// would change something is put to the API server as a dry run. Each must be accepted.
func rehearse(t *testing.T, a answer) {
	t.Helper()
	steps := []remedy{}
	for _, c := range append(append([]cause{}, a.RootCauses...), a.Findings...) {
		steps = append(steps, c.Remedies...)
	}
	for _, u := range a.Unexplained {
		steps = append(steps, u.Next...)
	}
	for _, s := range steps {
		debugged := false
		try := func(commands []string, risk string) {
			for _, c := range commands {
				if key := risk + " " + c; !rehearsed[key] {
					rehearsed[key] = true
					debugged = debugged || strings.HasPrefix(c, "kubectl debug ")
					rehearseOne(t, c, risk)
				}
			}
		}
		try(s.Commands, s.Risk)
		try(s.Verify, "read-only")
		if debugged {
			time.Sleep(5 * time.Second) // the kubelet says that the pod has ended; a person is no faster
			for _, c := range s.Afterwards {
				rehearseOne(t, c, "cleans")
			}
			if left := field("{.items[*].metadata.name}", "-A", "pods", "-l", "app.kubernetes.io/managed-by=kubectl-debug"); left != "" {
				t.Errorf("the step %q leaves debug pods: %s", s.Title, left)
			}
		}
	}
}

func rehearseOne(t *testing.T, command, risk string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	text := rehearsal + command
	if risk == "cleans" {
		text = command
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", text)
	cmd.Env = append(cmd.Environ(), "RISK="+risk)
	cmd.Dir, cmd.WaitDelay = t.TempDir(), time.Second
	out, err := cmd.CombinedOutput()
	t.Logf("%s: %s: %v\n%s", risk, command, err, out)
	if err != nil {
		t.Errorf("a printed command is refused: %s: %v\n%s", command, err, out)
	}
}
