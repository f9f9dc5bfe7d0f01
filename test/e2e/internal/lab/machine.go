package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// RunNode is process 1 of a node: it builds the machine around itself, starts
// containerd and the kubelet, and reaps until somebody cuts the power.
func (l Lab) RunNode(name string) error {
	n, err := NodeNamed(name)
	if err != nil {
		return err
	}
	if err := syscall.Sethostname([]byte(name)); err != nil {
		return err
	}
	if err := l.pivot(name); err != nil {
		return fmt.Errorf("root of %s: %w", name, err)
	}
	if err := l.mounts(name); err != nil {
		return fmt.Errorf("mounts of %s: %w", name, err)
	}
	if err := l.cable(n); err != nil {
		return fmt.Errorf("network of %s: %w", name, err)
	}
	if err := l.writeNodeFiles(n); err != nil {
		return err
	}
	if err := l.startRuntime(n); err != nil {
		return err
	}
	kubelet, err := l.startKubelet(n)
	if err != nil {
		return err
	}
	reap(func(pid int, status syscall.WaitStatus) bool {
		if pid == kubelet {
			fmt.Printf("kubelet ended: signal %d, exit code %d\n", status.Signal(), status.ExitStatus())
			kubelet = l.restartKubelet(n)
		}
		return false
	})
	return fmt.Errorf("node %s: nothing is left to run", name)
}

// restartKubelet does what a service manager does, unless a test holds it off.
// Orphans wait for their reaper meanwhile, which is harmless.
func (l Lab) restartKubelet(n Node) int {
	for {
		time.Sleep(200 * time.Millisecond)
		if _, err := os.Stat(l.holdFile(n.Name)); err == nil {
			continue
		}
		pid, err := l.startKubelet(n)
		if err == nil {
			return pid
		}
		fmt.Println(err)
	}
}

// pivot makes an overlay over the machine's root the node's root: a privileged
// pod with a hostPath of / can do no harm to the machine's own files. Only the
// lab's folder, and with it the kubelet's and containerd's, is the real disk.
func (l Lab) pivot(node string) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	root := l.nodePath(node, "root")
	layers := fmt.Sprintf("lowerdir=/,upperdir=%s,workdir=%s", l.nodePath(node, "upper"), l.nodePath(node, "work"))
	if err := syscall.Mount("overlay", root, "overlay", 0, layers); err != nil {
		return fmt.Errorf("overlay: %w", err)
	}
	binds := []struct {
		path  string
		flags uintptr
	}{{l.Dir, 0}, {l.Bin, 0}, {"/dev", syscall.MS_REC}}
	for _, b := range binds {
		to := filepath.Join(root, b.path)
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		if err := syscall.Mount(b.path, to, "", syscall.MS_BIND|b.flags, ""); err != nil {
			return fmt.Errorf("bind %s: %w", b.path, err)
		}
	}
	if err := syscall.Mount("proc", root+"/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("proc: %w", err)
	}
	if err := syscall.Mount("sysfs", root+"/sys", "sysfs", 0, ""); err != nil {
		return fmt.Errorf("sysfs: %w", err)
	}
	// Still private here: unmounting a shared copy would unmount the machine's.
	if err := syscall.Mount(groupRoot, root+groupRoot, "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
		return fmt.Errorf("control groups: %w", err)
	}
	old := filepath.Join(root, "mnt")
	if err := syscall.PivotRoot(root, old); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	return syscall.Unmount("/mnt", syscall.MNT_DETACH)
}

// mounts are those of an ordinary node: everything shared, and the kubelet's
// folder in a peer group of its own, or each mount below would show twice.
func (l Lab) mounts(node string) error {
	const kubelet = "/var/lib/kubelet"
	for _, dir := range []string{kubelet, "/var/log/pods", "/var/log/containers", "/dev/longhorn"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	steps := []struct {
		source, target, fs string
		flags              uintptr
		data               string
	}{
		{"", "/", "", syscall.MS_REC | syscall.MS_SHARED, ""},
		{"tmpfs", "/run", "tmpfs", 0, "mode=755"},
		{l.nodePath(node, "kubelet"), kubelet, "", syscall.MS_BIND, ""},
		{"", kubelet, "", syscall.MS_PRIVATE, ""},
		{"", kubelet, "", syscall.MS_SHARED, ""},
		{l.nodePath(node, "pods"), "/var/log/pods", "", syscall.MS_BIND, ""},
		{l.nodePath(node, "containers"), "/var/log/containers", "", syscall.MS_BIND, ""},
		// The kernel's /dev is one for both nodes; their device links are not.
		{"tmpfs", "/dev/longhorn", "tmpfs", 0, "mode=755"},
	}
	for _, s := range steps {
		if err := syscall.Mount(s.source, s.target, s.fs, s.flags, s.data); err != nil {
			return fmt.Errorf("%s: %w", s.target, err)
		}
	}
	for _, dir := range []string{"/run/netns", "/run/lock"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// cable waits for the network interface and names it. No default route: nothing
// leaves the lab.
func (l Lab) cable(n Node) error {
	if err := l.until(10*time.Second, "eth0 exists", func() bool {
		_, err := os.Stat("/sys/class/net/eth0")
		return err == nil
	}); err != nil {
		return err
	}
	lines := []string{"ip link set lo up", "ip addr add " + n.IP + "/24 dev eth0", "ip link set eth0 up"}
	for _, o := range Nodes {
		if o.Name != n.Name {
			lines = append(lines, "ip route add "+o.Pods+" via "+o.IP)
		}
	}
	if err := run(lines...); err != nil {
		return err
	}
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644)
}

// startRuntime starts containerd and loads the images once.
func (l Lab) startRuntime(n Node) error {
	if _, err := l.spawn("/usr/bin/containerd", "containerd-"+n.Name, []string{"--config", l.nodePath(n.Name, "containerd.toml")}, nil); err != nil {
		return err
	}
	const ctr = "ctr -a /run/containerd/containerd.sock"
	if err := l.until(30*time.Second, "containerd answers", func() bool { return run(ctr+" version") == nil }); err != nil {
		return err
	}
	done := l.nodePath(n.Name, "images-loaded")
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	archives, err := filepath.Glob(l.path("images", "*.tar"))
	if err != nil {
		return err
	}
	for _, a := range archives {
		if err := run(ctr + " -n k8s.io images import " + a); err != nil {
			return err
		}
	}
	return os.WriteFile(done, nil, 0o644)
}

func (l Lab) startKubelet(n Node) (int, error) {
	pid, err := l.spawn(l.Bin+"/kubelet", "kubelet-"+n.Name, []string{
		"--config=" + l.nodePath(n.Name, "kubelet.yaml"), "--kubeconfig=" + l.Kubeconfig("node-"+n.Name),
		"--hostname-override=" + n.Name, "--node-ip=" + n.IP, "--root-dir=/var/lib/kubelet", "--v=2",
	}, nil)
	if err != nil {
		return 0, err
	}
	return pid, os.WriteFile("/run/kubelet.pid", []byte(strconv.Itoa(pid)), 0o644)
}
