package lab

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Up starts a fresh cluster and returns when pods can run on every node.
func (l Lab) Up(say func(string)) error {
	for _, dir := range []string{"log", "pid", "storage", "home"} {
		if err := os.MkdirAll(l.path(dir), 0o755); err != nil {
			return err
		}
	}
	steps := []struct {
		name string
		run  func() error
	}{
		{"keys written", l.writePKI},
		{"images packed", l.writeImages},
		{"network up", l.network},
		{"apiserver ready", l.startAPI},
		{"controllers started", l.startControllers},
		{"nodes started", l.startNodes},
		{"nodes ready", l.waitForNodes},
	}
	for _, s := range steps {
		if err := s.run(); err != nil {
			return fmt.Errorf("until %s: %w", s.name, err)
		}
		say(s.name)
	}
	return nil
}

// network is a bridge with the control plane's address; each node hangs on it
// by a pair of virtual interfaces. There is no route out.
func (l Lab) network() error {
	return run(
		"ip link set lo up",
		"ip link add lab0 type bridge",
		"ip addr add "+HostIP+"/24 dev lab0",
		"ip link set lab0 up",
	)
}

const (
	etcdURL = "http://127.0.0.1:2379"
	peerURL = "http://127.0.0.1:2380"
)

func (l Lab) startAPI() error {
	pki := func(name string) string { return l.path("pki", name) }
	if err := l.start("etcd", "--data-dir="+l.path("etcd"), "--listen-client-urls="+etcdURL, "--advertise-client-urls="+etcdURL,
		"--listen-peer-urls="+peerURL, "--initial-advertise-peer-urls="+peerURL, "--initial-cluster=default="+peerURL,
		"--unsafe-no-fsync", "--log-level=warn"); err != nil {
		return err
	}
	if err := l.start("kube-apiserver", "--etcd-servers="+etcdURL, "--bind-address="+HostIP, "--advertise-address="+HostIP, "--secure-port=6443",
		"--tls-cert-file="+pki("apiserver.crt"), "--tls-private-key-file="+pki("apiserver.key"), "--client-ca-file="+pki("ca.crt"),
		"--kubelet-certificate-authority="+pki("ca.crt"), "--kubelet-client-certificate="+pki("apiserver-kubelet.crt"),
		"--kubelet-client-key="+pki("apiserver-kubelet.key"), "--kubelet-preferred-address-types=InternalIP",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+pki("sa.key"),
		"--service-account-signing-key-file="+pki("sa.key"), "--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction", "--allow-privileged=true", "--service-cluster-ip-range=10.96.0.0/16",
		"--endpoint-reconciler-type=none", "--profiling=false"); err != nil {
		return err
	}
	return l.until(time.Minute, "the apiserver answers", func() bool {
		_, err := l.Kubectl("get", "--raw", "/readyz")
		return err == nil
	})
}

// startControllers shortens the waits that only cost the tests' time; the
// six-minute clock of forced detachment is built in and stays.
func (l Lab) startControllers() error {
	conf := func(name string) []string {
		c := l.Kubeconfig(name)
		return []string{"--kubeconfig=" + c, "--authentication-kubeconfig=" + c, "--authorization-kubeconfig=" + c,
			"--bind-address=127.0.0.1", "--leader-elect=false"}
	}
	if err := l.start("kube-controller-manager", append(conf("manager"),
		"--service-account-private-key-file="+l.path("pki", "sa.key"), "--root-ca-file="+l.path("pki", "ca.crt"),
		"--use-service-account-credentials=true", "--attach-detach-reconcile-sync-period=5s", "--pvclaimbinder-sync-period=1s",
		"--node-monitor-period=2s", "--node-monitor-grace-period=20s", "--controllers=*,-selinux-warning-controller")...); err != nil {
		return err
	}
	return l.start("kube-scheduler", conf("scheduler")...)
}

func (l Lab) startNodes() error {
	for _, n := range Nodes {
		if err := l.PowerOn(n.Name); err != nil {
			return err
		}
	}
	for _, n := range Nodes { // the apiserver reaches pods
		if err := run("ip route replace " + n.Pods + " via " + n.IP); err != nil {
			return err
		}
	}
	return nil
}

func (l Lab) waitForNodes() error {
	for _, n := range Nodes {
		if err := l.WaitReady(n.Name); err != nil {
			return err
		}
	}
	// A pod that comes before this account is forbidden.
	return l.until(time.Minute, "the default service account exists", func() bool {
		_, err := l.Kubectl("-n", "default", "get", "serviceaccount", "default")
		return err == nil
	})
}

// WaitReady waits until the node reports that it is ready.
func (l Lab) WaitReady(node string) error {
	return l.until(90*time.Second, "node "+node+" is ready", func() bool {
		out, err := l.Kubectl("get", "node", node, "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
		return err == nil && out == "True"
	})
}

// Kubectl runs the lab's kubectl as the administrator.
func (l Lab) Kubectl(args ...string) (string, error) {
	out, err := exec.Command(l.Bin+"/kubectl", append([]string{"--kubeconfig", l.Kubeconfig("admin")}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// start runs one program of the control plane in the background.
func (l Lab) start(name string, args ...string) error {
	pid, err := l.spawn(l.Bin+"/"+name, name, args, nil)
	if err != nil {
		return err
	}
	return os.WriteFile(l.path("pid", name), []byte(strconv.Itoa(pid)), 0o644)
}

// until asks every fifth of a second.
func (l Lab) until(limit time.Duration, what string, done func() bool) error {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if done() {
			return nil
		}
	}
	return fmt.Errorf("waited %s in vain until %s (logs: %s)", limit, what, l.Logs())
}

// run runs plain command lines, one after the other.
func run(lines ...string) error {
	for _, line := range lines {
		f := strings.Fields(line)
		if out, err := exec.Command(f[0], f[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", line, err, out)
		}
	}
	return nil
}

// Kill ends one program of the control plane for good.
func (l Lab) Kill(name string) error {
	pid, err := l.readPID(name)
	if err != nil {
		return err
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}
