// Package vm runs the agent in virtual machines with the real storage programs:
// open-iscsi and tgt, multipathd, LVM, MD, LUKS, NFS. What it saw there is
// diagnosed outside, together with the cluster half that would belong to it.
package vm

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

//go:embed guest/*.sh
var guest embed.FS

// Machine is what a virtual machine is started from.
type Machine struct {
	Image string // folder that image/build.sh made
	Agent string // the static agent of amd64
}

// Boot starts a machine that runs one script of guest/ and waits until it is
// off, at most for the limit. It returns the folder with a folder of results for
// each scenario. The image is never written: every boot starts from the same bytes.
func (m Machine) Boot(ctx context.Context, script, share string, limit time.Duration) (string, error) {
	if err := m.fill(share); err != nil {
		return "", err
	}
	out := filepath.Join(share, "out")
	return out, m.run(ctx, script, share, out, limit, nil)
}

// second is the folder for the results of the second machine of two.
const second = "second"

// BootTwo starts two machines that run one script and have a cable between them.
// The results of the second are in a folder of their own.
func (m Machine) BootTwo(ctx context.Context, script, share string, limit time.Duration) (string, error) {
	if err := m.fill(share); err != nil {
		return "", err
	}
	cable, err := os.MkdirTemp("", "cable") // the path of a socket has to be short
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(cable) }()
	ends := []string{filepath.Join(cable, "1"), filepath.Join(cable, "2")}
	out := filepath.Join(share, "out")
	failures := make([]error, 2)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var both sync.WaitGroup
	for i, name := range []string{"first", second} {
		results := out
		if name == second {
			results = filepath.Join(out, second)
		}
		both.Go(func() {
			failures[i] = m.run(ctx, script, share, results, limit, &wire{name, fmt.Sprintf("%02d", i+1), ends[i], ends[1-i]})
			if failures[i] != nil {
				cancel() // the other would wait for it
			}
		})
	}
	both.Wait()
	return out, errors.Join(failures...)
}

// wire is a machine's name among two, and the ends of the cable between them.
type wire struct{ name, digits, here, there string }

func (m Machine) run(ctx context.Context, script, share, out string, limit time.Duration, w *wire) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	console := filepath.Join(share, "console.log")
	// no_timer_check: without KVM on a busy machine the test of the timer's interrupt can come too late, and the kernel
	// gives up (arch/x86/kernel/apic/io_apic.c, check_timer).
	words := "console=ttyS0 quiet loglevel=3 panic=-1 mitigations=off clocksource=acpi_pm tsc=unstable no_timer_check boot=" + script
	disk := filepath.Join(out, "disk") // empty, of the machine alone
	if err := emptyDisk(disk); err != nil {
		return err
	}
	card := []string{"-nic", "none"}
	if w != nil {
		console = filepath.Join(share, "console."+w.name+".log")
		words += " machine=" + w.name
		card = []string{
			"-netdev", "dgram,id=cable,local.type=unix,local.path=" + w.here + ",remote.type=unix,remote.path=" + w.there,
			"-device", "virtio-net-pci,netdev=cable,romfile=,mac=52:54:00:00:00:" + w.digits,
		}
	}
	// Software emulation: a stock kernel boots on every machine, nested or not.
	cmd := exec.CommandContext(ctx, "nice", append([]string{
		"-n", "10", "qemu-system-x86_64",
		"-accel", "tcg,thread=multi", "-smp", "2", "-cpu", "qemu64", "-M", "pc", "-m", "1536",
		"-display", "none", "-monitor", "none", "-no-reboot",
		"-serial", "file:" + console,
		"-kernel", filepath.Join(m.Image, "vmlinuz"), "-initrd", filepath.Join(m.Image, "initramfs"),
		"-drive", "file=" + filepath.Join(m.Image, "root.ext4") + ",format=raw,if=virtio,snapshot=on",
		"-drive", "file=" + disk + ",format=raw,if=virtio",
		"-virtfs", "local,path=" + share + ",mount_tag=host,security_model=none,multidevs=remap",
		"-append", words,
	}, card...)...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("not off after %s: %w", limit, ctx.Err())
	} else if _, missing := os.Stat(filepath.Join(out, "finished")); missing != nil {
		err = errors.Join(err, errors.New("the script did not come to its end"))
	}
	if err != nil {
		return fmt.Errorf("boot %s: %w\n%s\nconsole:\n%s", script, err, said.String(), Console(console))
	}
	return nil
}

const diskSize = 128 << 20

func emptyDisk(name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		return err
	}
	return os.Truncate(name, diskSize)
}

// fill puts the scripts and the agent where the guest finds them.
func (m Machine) fill(share string) error {
	scripts, err := fs.Sub(guest, "guest")
	if err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(share, "guest"), scripts); err != nil {
		return err
	}
	agent, err := os.ReadFile(m.Agent)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(share, "mountdoctor-agent"), agent, 0o755); err != nil {
		return err
	}
	return os.Mkdir(filepath.Join(share, "out"), 0o755)
}

// Console is the end of what the machine said.
func Console(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	const enough = 80
	lines := strings.Split(strings.ReplaceAll(string(text), "\r", ""), "\n")
	return strings.Join(lines[max(0, len(lines)-enough):], "\n")
}
