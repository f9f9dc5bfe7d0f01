package launch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/launch/agents"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Exit codes of the receiving script.
const (
	exitNoDirectory = 81
	exitNoGzip      = 82
	exitCut         = 83
	exitNotRun      = 84
)

// receive takes the agent from standard input. It needs sh, cat and chmod, and
// uses head and gzip where they are: busybox, toybox, dash and bash differ in all
// else. head -c ends by itself where a proxy does not pass the end of the input on.
// The sum only tells an upload that was cut from one that was not; the agent gives
// it, and proves itself when it answers. Arguments: suffix, bytes, gzip|raw.
const receive = `umask 077
for d in /tmp /var/tmp /run ''; do
  f=$d/.mountdoctor-$1
  if (: >"$f") 2>/dev/null; then break; fi
  f=
done
[ -n "$f" ] || { echo 'no directory of the container is writable' >&2; exit 81; }
if printf x 2>/dev/null | head -c 1 >/dev/null 2>&1; then take="head -c $2"; else take=cat; fi
if [ "$3" = gzip ]; then
  gzip --help >/dev/null 2>&1 || command -v gzip >/dev/null 2>&1 || exit 82
  $take | gzip -dc >"$f" || exit 83
else
  $take >"$f" || exit 83
fi
chmod 700 "$f" || exit 84
s=$("$f" sha256) || exit 84
echo "agent $s $f"
"$f" version >/dev/null || exit 84
`

// program is the agent in the container: where it lies, and the SHA-256 of what was sent.
type program struct{ path, sum string }

// upload brings the agent into the container and checks that it arrived whole.
func (n *nodeRun) upload(ctx context.Context, pod *corev1.Pod) (program, *refusal) {
	arch := n.target.Arch
	if arch == "" {
		var why *refusal
		if arch, why = n.askArch(ctx, pod); why != nil {
			return program{}, why
		}
	}
	packed, sum, ok := n.opts.Agent(arch)
	if !ok {
		return program{}, noAgent(arch)
	}
	n.say("upload the agent (%d KiB)", len(packed)>>10)
	path, code, why := n.send(ctx, pod, packed, sum, "gzip")
	if code == exitNoGzip {
		raw, err := unpack(packed)
		if err != nil {
			return program{}, &refusal{reason: snapshot.Unsupported, detail: "unpack the agent: " + clean(err.Error())}
		}
		path, code, why = n.send(ctx, pod, raw, sum, "raw")
	}
	if why != nil && code == exitCut {
		n.say("the upload was cut, once more")
		path, _, why = n.send(ctx, pod, packed, sum, "gzip")
	}
	return program{path, sum}, why
}

func noAgent(arch string) *refusal {
	if len(agents.Architectures()) == 0 {
		return &refusal{reason: snapshot.Unsupported, detail: agents.BuiltWithout}
	}
	return &refusal{reason: snapshot.Unsupported, detail: fmt.Sprintf("there is no agent for the node's architecture %q", arch)}
}

// send is one try; the code is that of the script, exitCut also when the
// connection broke, and 0 when nothing of this kind happened.
func (n *nodeRun) send(ctx context.Context, pod *corev1.Pod, body []byte, sum, mode string) (string, int, *refusal) {
	out, noise := &tail{limit: noiseLimit}, &tail{limit: noiseLimit}
	command := []string{"sh", "-c", receive, "mountdoctor", pod.Name[len(NamePrefix):], strconv.Itoa(len(body)), mode}
	err := n.exec.run(ctx, pod, command, remotecommand.StreamOptions{
		Stdin: bytes.NewReader(body), Stdout: out, Stderr: noise})
	var exit utilexec.CodeExitError
	switch {
	case ctx.Err() != nil:
		return "", 0, interrupted(ctx, "upload the agent")
	case errors.As(err, &exit):
		return "", exit.Code, refusedScript(exit.Code, noise.String())
	case err != nil:
		code := exitCut
		why := refusedExec("run a command in the probe pod", err)
		if why.reason == snapshot.Forbidden || why.next {
			code = 0
		}
		return "", code, why
	}
	path, got := arrived(string(out.kept))
	if path == "" || got != sum {
		return "", exitCut, &refusal{reason: snapshot.Truncated, detail: fmt.Sprintf(
			"the agent arrived with SHA-256 %q, want %q %s", got, sum, noise)}
	}
	return path, 0, nil
}

// arrived finds the script's answer; images may print banners around it.
func arrived(out string) (path, sum string) {
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "agent" && strings.HasPrefix(f[2], "/") {
			return f[2], f[1]
		}
	}
	return "", ""
}

func refusedScript(code int, noise string) *refusal {
	r := &refusal{reason: snapshot.Unsupported, next: true}
	switch code {
	case exitNoDirectory:
		r.detail = "no directory of the probe's container is writable"
	case exitCut:
		r.reason, r.next = snapshot.Truncated, false
		r.detail = "the upload of the agent was cut off"
	case exitNotRun:
		r.detail = "the agent does not run on the node"
	case 126, 127:
		r.detail = "the image has no usable shell (way out: --probe-image with one that has sh, cat and chmod)"
	case 137, 143:
		r.reason, r.next = snapshot.PodRejected, false
		r.detail = fmt.Sprintf("something on the node killed the upload (exit code %d)", code)
	default:
		r.detail = fmt.Sprintf("the upload of the agent ended with exit code %d", code)
	}
	if noise != "" {
		r.detail += ": " + noise
	}
	return r
}

// askArch asks the machine where the Node object may not be read.
func (n *nodeRun) askArch(ctx context.Context, pod *corev1.Pod) (string, *refusal) {
	out := &tail{limit: noiseLimit}
	if err := n.exec.run(ctx, pod, []string{"uname", "-m"}, remotecommand.StreamOptions{Stdout: out, Stderr: &tail{}}); err != nil {
		return "", refusedExec("ask the node for its architecture", err)
	}
	machine := strings.TrimSpace(string(out.kept))
	for name, arch := range machines {
		if machine == name {
			return arch, nil
		}
	}
	return machine, nil
}

// machines translates uname(2) into Go's names.
var machines = map[string]string{
	"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "armv6l": "arm", "ppc64le": "ppc64le", "s390x": "s390x", "riscv64": "riscv64",
}

func unpack(packed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, 64<<20))
}
