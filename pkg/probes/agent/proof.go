package agent

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// proofName begins the first frame of an answer that was asked for a proof:
//
//	proof HMAC-SHA256(key: the nonce, text: SHA-256 of the agent's own program)
//
// It tells that the answer was made for this very question, by a program that is,
// or knows, the one that was sent: not by what an image had in its place, nor by a
// copy that was cut, nor by an answer kept from another run. Who is root in the
// container can still compute it; against them no program can prove anything.
const proofName = "proof"

// ErrUnproven means that somebody else answered than the agent that was sent.
var ErrUnproven = errors.New("what answered did not prove to be the agent that was sent")

// maxNonce bounds the line that holds the nonce.
const maxNonce = 128

// Prove is the proof of a program, by its SHA-256 in hexadecimal.
func Prove(nonce, sum string) string {
	h := hmac.New(sha256.New, []byte(nonce))
	h.Write([]byte(sum))
	return hex.EncodeToString(h.Sum(nil))
}

// ReadNonce reads one line byte by byte: what follows it belongs to somebody else.
func ReadNonce(in io.Reader) (string, error) {
	var line []byte
	for one := make([]byte, 1); len(line) <= maxNonce; {
		n, err := in.Read(one)
		switch {
		case n == 1 && one[0] == '\n':
			return strings.TrimSpace(string(line)), nil
		case n == 1:
			line = append(line, one[0])
		case err != nil:
			return "", fmt.Errorf("read the nonce: %w", err)
		}
	}
	return "", errors.New("read the nonce: the line is too long")
}

// prove takes the first frame when a proof was asked for.
func (d *decoder) prove() error {
	if d.proof == "" {
		return nil
	}
	line, err := d.line()
	if err != nil {
		return fmt.Errorf("before its proof: %w", ErrTruncated)
	}
	name, proof, _ := strings.Cut(line, " ")
	if name != proofName || !hmac.Equal([]byte(proof), []byte(d.proof)) {
		return fmt.Errorf("%w: %q", ErrUnproven, shorten(line))
	}
	return nil
}
