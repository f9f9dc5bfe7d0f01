// Package agents holds the node agents that were built into this program.
package agents

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"embed"
	"slices"
	"strings"
	"sync"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/launch/agents/lzma"
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

// mostAgent is more than any agent has.
const mostAgent = 64 << 20

// packed holds the agents that were asked for, each repacked once.
var packed struct {
	sync.Mutex
	gz map[string][]byte
}

// repacked makes gzip, which images have, of LZMA, which is a fifth smaller.
func repacked(goarch string) ([]byte, error) {
	packed.Lock()
	defer packed.Unlock()
	if gz := packed.gz[goarch]; gz != nil {
		return gz, nil
	}
	small, err := files.ReadFile("bin/" + prefix + goarch + ".lzma")
	if err != nil {
		return nil, err
	}
	agent, err := lzma.Unpack(small, mostAgent)
	if err != nil {
		return nil, err
	}
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	if _, err := w.Write(agent); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if packed.gz == nil {
		packed.gz = map[string][]byte{}
	}
	packed.gz[goarch] = gz.Bytes()
	return gz.Bytes(), nil
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
