package launch

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"
)

// executor runs commands in the probe's container.
type executor struct {
	client  kubernetes.Interface
	streams *rest.Config // without a request timeout: a stream lives as long as its context
}

// run executes one command with its streams; the error of a command that ran and
// failed is an exec.CodeExitError. WebSocket comes first; servers and proxies
// that refuse its upgrade get SPDY, as kubectl does it (KEP-4006).
func (e executor) run(ctx context.Context, pod *corev1.Pod, command []string, o remotecommand.StreamOptions) error {
	url := e.client.CoreV1().RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).
		SubResource("exec").VersionedParams(&corev1.PodExecOptions{
		Container: containerName, Command: command,
		Stdin: o.Stdin != nil, Stdout: o.Stdout != nil, Stderr: o.Stderr != nil,
	}, scheme.ParameterCodec).URL()
	spdy, err := remotecommand.NewSPDYExecutor(e.streams, "POST", url)
	if err != nil {
		return fmt.Errorf("prepare exec: %w", err)
	}
	web, err := remotecommand.NewWebSocketExecutor(e.streams, "GET", url.String())
	if err != nil {
		return fmt.Errorf("prepare exec: %w", err)
	}
	either, err := remotecommand.NewFallbackExecutor(web, spdy, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return fmt.Errorf("prepare exec: %w", err)
	}
	// A broken stream is told in a gap; client-go's own log lines on standard error
	// would only repeat it.
	return either.StreamWithContext(klog.NewContext(ctx, klog.New(nil)), o)
}

// tail keeps the first bytes of a stream and swallows the rest, so that a
// chatty or hostile container cannot fill our memory.
type tail struct {
	kept  []byte
	limit int
}

func (t *tail) Write(p []byte) (int, error) {
	if room := t.limit - len(t.kept); room > 0 {
		t.kept = append(t.kept, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return clean(string(t.kept)) }

var _ io.Writer = (*tail)(nil)
