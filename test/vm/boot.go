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
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	console := filepath.Join(share, "console.log")
	// Software emulation: a stock kernel boots on every machine, nested or not.
	cmd := exec.CommandContext(ctx, "nice", "-n", "10", "qemu-system-x86_64",
		"-accel", "tcg,thread=multi", "-smp", "2", "-cpu", "qemu64", "-M", "pc", "-m", "1536",
		"-display", "none", "-monitor", "none", "-nic", "none", "-no-reboot",
		"-serial", "file:"+console,
		"-kernel", filepath.Join(m.Image, "vmlinuz"), "-initrd", filepath.Join(m.Image, "initramfs"),
		"-drive", "file="+filepath.Join(m.Image, "root.ext4")+",format=raw,if=virtio,snapshot=on",
		"-virtfs", "local,path="+share+",mount_tag=host,security_model=none,multidevs=remap",
		"-append", "console=ttyS0 quiet loglevel=3 panic=-1 mitigations=off tsc=reliable boot="+script)
	var words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &words, &words
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	out := filepath.Join(share, "out")
	if ctx.Err() != nil {
		err = fmt.Errorf("not off after %s: %w", limit, ctx.Err())
	} else if _, missing := os.Stat(filepath.Join(out, "finished")); missing != nil {
		err = errors.Join(err, errors.New("the script did not come to its end"))
	}
	if err != nil {
		return out, fmt.Errorf("boot %s: %w\n%s\nconsole:\n%s", script, err, words.String(), Console(share))
	}
	return out, nil
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
func Console(share string) string {
	text, err := os.ReadFile(filepath.Join(share, "console.log"))
	if err != nil {
		return err.Error()
	}
	const enough = 80
	lines := strings.Split(strings.ReplaceAll(string(text), "\r", ""), "\n")
	return strings.Join(lines[max(0, len(lines)-enough):], "\n")
}
