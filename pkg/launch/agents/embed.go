// Package agents holds the node agents that were built into this program.
package agents

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// The directory always holds its README, so that a build without agents compiles.
//
//go:embed all:bin
var files embed.FS

const prefix = "mountdoctor-agent-linux-"

// BuiltWithout is what the user reads when this program has no agents.
const BuiltWithout = "this program was built without agents (make agents); nodes cannot be probed"

// For returns the gzip-compressed agent for an architecture in Go's spelling, as
// node.status.nodeInfo.architecture has it, and the SHA-256 of the agent itself,
// not compressed, in hexadecimal. It returns false when there is none.
func For(goarch string) (gz []byte, sha256 string, ok bool) {
	sum, ok := sums()[goarch]
	if !ok {
		return nil, "", false
	}
	gz, err := repacked(goarch)
	if err != nil {
		return nil, "", false
	}
	return gz, sum, true
}

// mostAgents is more than all agents have together.
const mostAgents = 256 << 20

// packed holds the agents that were asked for, each repacked once.
var packed struct {
	sync.Mutex
	gz map[string][]byte
}

// repacked makes gzip, which images have, of one agent of the archive.
func repacked(goarch string) ([]byte, error) {
	packed.Lock()
	defer packed.Unlock()
	if gz := packed.gz[goarch]; gz != nil {
		return gz, nil
	}
	var gz bytes.Buffer
	if err := unpack(prefix+goarch, &gz); err != nil {
		return nil, fmt.Errorf("unpack the agent for %s: %w", goarch, err)
	}
	if packed.gz == nil {
		packed.gz = map[string][]byte{}
	}
	packed.gz[goarch] = gz.Bytes()
	return gz.Bytes(), nil
}

func unpack(name string, out io.Writer) error {
	archive, err := files.ReadFile("bin/agents.tar.zst")
	if err != nil {
		return err
	}
	d, err := zstd.NewReader(bytes.NewReader(archive), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostAgents))
	if err != nil {
		return err
	}
	defer d.Close()
	for t := tar.NewReader(d); ; {
		h, err := t.Next()
		if err != nil {
			return err
		}
		if h.Name != name {
			continue
		}
		w := gzip.NewWriter(out)
		if _, err := io.Copy(w, t); err != nil {
			return err
		}
		return w.Close()
	}
}

// Architectures lists those that there are agents for, sorted.
func Architectures() []string {
	var list []string
	for arch := range sums() {
		list = append(list, arch)
	}
	slices.Sort(list)
	return list
}

// sums reads SHA256SUMS in the format of sha256sum(1), by architecture.
func sums() map[string]string {
	data, err := files.ReadFile("bin/SHA256SUMS")
	if err != nil {
		return nil
	}
	m := map[string]string{}
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		sum, name, ok := strings.Cut(s.Text(), "  ")
		if arch, found := strings.CutPrefix(name, prefix); ok && found {
			m[arch] = sum
		}
	}
	return m
}
