package lzma

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// packedHello is what "printf 'hello hello hello\n' | xz --format=lzma -9e" writes.
const packedHello = "5d00000004ffffffffffffffff00341949ee8de94f7e21b620b7ffffba340000"

func TestUnpack(t *testing.T) {
	t.Parallel()
	raw, err := hex.DecodeString(packedHello)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Unpack(raw, 100)
	if err != nil || string(got) != "hello hello hello\n" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := Unpack(raw, 5); err == nil {
		t.Error("more than the limit was unpacked")
	}
	for n := range len(raw) {
		if out, err := Unpack(raw[:n], 100); err == nil {
			t.Errorf("%d of %d bytes unpack to %q", n, len(raw), out)
		}
	}
}

// TestAgainstXZ packs texts, noise and runs with the real program.
func TestAgainstXZ(t *testing.T) {
	t.Parallel()
	xz, err := exec.LookPath("xz")
	if err != nil {
		t.Skip("NOT TESTED: no xz here")
	}
	noise := make([]byte, 100_000)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(rnd.Uint32() >> (i / 10_000))
	}
	for name, want := range map[string][]byte{
		"empty": {},
		"one":   {7},
		"text":  []byte(strings.Repeat("the quick brown fox jumps over the lazy dog, ", 4000)),
		"noise": noise,
		"mixed": bytes.Join([][]byte{noise, noise[:70_000], make([]byte, 50_000), noise[30_000:]}, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(xz, "--format=lzma", "-9e", "--stdout")
			cmd.Stdin = bytes.NewReader(want)
			packed, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			got, err := Unpack(packed, len(want))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, want %d: %v", len(got), len(want), err)
			}
		})
	}
}

func TestDamaged(t *testing.T) {
	t.Parallel()
	raw, err := hex.DecodeString(packedHello)
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		for _, with := range []byte{0x00, 0x55, 0xff} {
			bad := bytes.Clone(raw)
			bad[i] = with
			if out, err := Unpack(bad, 1000); err != nil && !errors.Is(err, ErrDamaged) && !strings.Contains(err.Error(), "more than") {
				t.Errorf("byte %d: %q, %v", i, out, err)
			}
		}
	}
}

func FuzzUnpack(f *testing.F) {
	raw, err := hex.DecodeString(packedHello)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, in []byte) {
		if out, err := Unpack(in, 1<<16); err == nil && len(out) > 1<<16 {
			t.Errorf("%d bytes", len(out))
		}
	})
}
