package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Clean removes what does not end with the lab's namespaces: loop devices over
// the network storage, control groups, and the folder itself.
func (l Lab) Clean() error {
	images, err := filepath.Glob(filepath.Join(l.Images(), "*.img"))
	if err != nil {
		return err
	}
	for _, image := range images {
		if err := detach(image); err != nil {
			return err
		}
	}
	for _, n := range Nodes {
		for _, h := range hierarchies() {
			if err := removeGroup(filepath.Join(groupRoot, h, l.group(n.Name))); err != nil {
				return err
			}
		}
	}
	return os.RemoveAll(l.Dir)
}

// detach finds the loop devices by the image's inode: the path that the kernel
// shows reads as nonsense once its mount namespace is gone.
func detach(image string) error {
	for range 50 {
		out, err := exec.Command("losetup", "-n", "-O", "NAME", "-j", image).Output()
		if err != nil {
			return fmt.Errorf("loop devices of %s: %w", image, err)
		}
		devices := strings.Fields(string(out))
		if len(devices) == 0 {
			return nil
		}
		for _, d := range devices {
			_ = exec.Command("losetup", "-d", d).Run() // gone meanwhile, or shown again in the next round
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("a loop device of %s stays in use", image)
}

// removeGroup removes a control group with all below it, children first. The
// last processes may take a moment to leave.
func removeGroup(dir string) error {
	var err error
	for range 50 {
		var dirs []string
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				dirs = append(dirs, path)
			}
			return nil
		})
		if len(dirs) == 0 {
			return nil
		}
		for i := len(dirs) - 1; i >= 0; i-- {
			err = os.Remove(dirs[i]) // rmdir(2): control files need not go first
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("remove control group: %w", err)
}
