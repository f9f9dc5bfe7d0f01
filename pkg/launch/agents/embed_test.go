package agents

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"testing"
)

// maxAgent is the promise of the design: an agent travels through exec.
const maxAgent = 4 << 20

func TestAgents(t *testing.T) {
	t.Parallel()
	if len(Architectures()) == 0 {
		t.Skip("NOT TESTED: " + BuiltWithout)
	}
	for _, arch := range Architectures() {
		packed, want, ok := For(arch)
		if !ok {
			t.Errorf("%s: is listed but not there", arch)
			continue
		}
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatalf("%s: %v", arch, err)
		}
		agent, err := io.ReadAll(z)
		if err != nil {
			t.Fatalf("%s: %v", arch, err)
		}
		if sum := sha256.Sum256(agent); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s: checksum mismatch", arch)
		}
		if len(agent) > maxAgent {
			t.Errorf("%s: %d bytes, want at most %d", arch, len(agent), maxAgent)
		}
		if !bytes.HasPrefix(agent, []byte("\x7fELF")) {
			t.Errorf("%s: is no ELF file", arch)
		}
	}
}

func TestUnknownArchitecture(t *testing.T) {
	t.Parallel()
	if _, _, ok := For("vax"); ok {
		t.Error("there is an agent for vax")
	}
}
