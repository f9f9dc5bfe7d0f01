package lab

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Names of the images that both nodes hold. The lab has no registry: an image
// that is not here cannot be pulled.
const (
	pauseImage  = "lab.local/pause:1"
	DriverImage = "lab.local/disk-csi:1"
	ShellImage  = "docker.io/library/busybox:1.36"
)

// Sidecars are the programs of the CSI project that stand beside the driver's
// controller, each an image of its own, with the versions of sidecars/go.mod.
var Sidecars = map[string]string{"csi-attacher": "v4.12.0", "csi-provisioner": "v5.3.0", "csi-resizer": "v1.14.0"}

// image is what becomes a layer of one docker-archive: files by their paths in
// the image, and names that link to the first of them.
type image struct {
	file  string
	tags  []string
	files [][2]string // path in the image, path here
	links []string
}

// writeImages packs the images of the lab by hand: nothing is downloaded.
func (l Lab) writeImages() error {
	applets, err := exec.Command("/bin/busybox", "--list").Output()
	if err != nil {
		return fmt.Errorf("list the applets of busybox: %w", err)
	}
	var links []string
	for _, name := range strings.Fields(string(applets)) {
		if name != "busybox" {
			links = append(links, "bin/"+name)
		}
	}
	shell := [2]string{"bin/busybox", "/bin/busybox"}
	images := []image{
		{file: "pause", tags: []string{pauseImage}, files: [][2]string{{"bin/pause", l.Own + "/pause"}}},
		{file: "busybox", tags: []string{ShellImage, "docker.io/longhornio/longhorn-instance-manager:v1.10.0", "docker.io/longhornio/longhorn-manager:v1.10.0"}, files: [][2]string{shell}, links: links},
		{file: "driver", tags: []string{DriverImage}, files: [][2]string{shell, {"bin/driver", l.Own + "/driver"}}, links: links},
		// An image without a shell: a probe cannot use it.
		{file: "bare", tags: []string{"lab.local/bare:1"}, files: [][2]string{{"bin/pause", l.Own + "/pause"}}},
	}
	for name, version := range Sidecars {
		images = append(images, image{file: name, tags: []string{"registry.k8s.io/sig-storage/" + name + ":" + version},
			files: [][2]string{{name, l.Bin + "/sidecars/" + name}}})
	}
	if err := os.MkdirAll(l.path("images"), 0o755); err != nil {
		return err
	}
	for _, i := range images {
		if err := i.write(l.path("images", i.file+".tar")); err != nil {
			return fmt.Errorf("pack image %s: %w", i.file, err)
		}
	}
	return nil
}

// write makes an archive as docker save does: a manifest, a configuration named
// by its hash, and one layer.
func (i image) write(path string) error {
	layer, err := i.layer()
	if err != nil {
		return err
	}
	diff := fmt.Sprintf("%x", sha256.Sum256(layer))
	config, err := json.Marshal(map[string]any{
		"architecture": "amd64", "os": "linux",
		"config": map[string]any{"Entrypoint": []string{"/" + i.files[0][0]}, "Env": []string{"PATH=/bin"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + diff}},
	})
	if err != nil {
		return err
	}
	if i.links != nil { // with a shell, the pod's command decides
		config = bytes.Replace(config, []byte(`"Entrypoint":["/bin/busybox"],`), nil, 1)
	}
	name := fmt.Sprintf("%x.json", sha256.Sum256(config))
	manifest, err := json.Marshal([]map[string]any{{"Config": name, "RepoTags": i.tags, "Layers": []string{diff + "/layer.tar"}}})
	if err != nil {
		return err
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range []struct {
		name string
		data []byte
	}{{name, config}, {diff + "/layer.tar", layer}, {"manifest.json", manifest}} {
		if err := add(w, &tar.Header{Name: f.name, Mode: 0o644}, f.data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

func (i image) layer() ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, dir := range []struct {
		name string
		mode int64
	}{{"bin/", 0o755}, {"tmp/", 0o1777}, {"etc/", 0o755}, {"root/", 0o700}} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir.name, Mode: dir.mode}); err != nil {
			return nil, err
		}
	}
	for _, f := range i.files {
		data, err := os.ReadFile(f[1])
		if err != nil {
			return nil, err
		}
		if err := add(w, &tar.Header{Name: f[0], Mode: 0o755}, data); err != nil {
			return nil, err
		}
	}
	for _, link := range i.links {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: link, Linkname: "busybox", Mode: 0o777}); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), w.Close()
}

func add(w *tar.Writer, h *tar.Header, data []byte) error {
	h.Typeflag, h.Size = tar.TypeReg, int64(len(data))
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}
