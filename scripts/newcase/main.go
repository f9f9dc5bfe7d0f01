// Newcase begins a case: three nodes with a driver and its plugins, a claim whose pod
// waits, recordings of machines on which nothing is wrong. What made the incident is
// written into it by hand.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

func main() {
	name := flag.String("name", "", "name of the incident in kebab case")
	driver := flag.String("driver", "", "CSI driver; none: the volume has an NFS source")
	handle := flag.String("handle", "vol-0001", "volumeHandle of the PersistentVolume")
	flag.Parse()
	if err := run(filepath.Join("testdata", "cases"), *name, *driver, *handle); err != nil {
		fmt.Fprintln(os.Stderr, "newcase:", err)
		os.Exit(1)
	}
}

func run(root, name, driver, handle string) error {
	if !regexp.MustCompile(`^[a-z0-9]+([.-][a-z0-9]+)+$`).MatchString(name) {
		return fmt.Errorf("name %q is not two or more words in kebab case", name)
	}
	dir := filepath.Join(root, name)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s exists already", dir)
	}
	if err := world(driver, handle).Write(dir); err != nil {
		return err
	}
	for file, text := range map[string]string{"README.md": fmt.Sprintf(readme, name), "ask.txt": "pvc data -n shop\n", "want.yaml": want} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			return err
		}
	}
	fmt.Printf("wrote %s: rename what it names, write in what made the incident, and run: make case NAME=%s\n", dir, name)
	return nil
}

// world is a cluster in which pod shop/web-0 waits for its volume on node n1.
func world(driver, handle string) *sketch.World {
	source := "nfs: {server: nfs.example, path: /export/data}"
	if driver != "" {
		source = fmt.Sprintf("csi: {driver: %q, volumeHandle: %q, fsType: ext4}", driver, handle)
	}
	w := sketch.NewWorld(driver, cmp.Or(handle, "vol-0001"), "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\n"+source).Waits()
	if w.Attaches() {
		w.Attached("n1")
	}
	return w
}

const readme = `# %s

What happened, in a few sentences.

Source: where this was reported. Say what is recorded verbatim and what is reconstructed.
`

const want = `rootCauses:
- name: CAUSE
  subject: Device NODE/8:32
  certainty: certain
notCauses: []
explains: [pod-waiting-for-volume]
unexplained: []
mustSay: []
mustNotAdvise: []
`
