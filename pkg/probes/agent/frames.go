package agent

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// The protocol on the agent's standard output. Before the magic line anything
// may stand (banners of shells); after it come a proof where one was asked for,
// frames, and an end:
//
//	mountdoctor-agent/1
//	proof HMAC
//	frame NAME STATE LENGTH SHA256
//	<LENGTH bytes, gzip>
//	end COUNT SHA256-OF-ALL-PAYLOADS
//
// Every frame stands for itself, so that output that was cut still tells what
// the first probes found.
const (
	magic         = "mountdoctor-agent/1"
	recordingName = "recording"
	maxJunk       = 1 << 20
	maxFrames     = 1000
)

// ErrTruncated means that the output ended before its end line.
var ErrTruncated = errors.New("the agent's output was cut off")

// frameWriter writes the protocol. One compressor serves all frames: each takes most of a megabyte.
type frameWriter struct {
	out   io.Writer
	zip   *gzip.Writer
	count int
	total hash.Hash
}

func newFrameWriter(out io.Writer, proof string) (*frameWriter, error) {
	head := magic + "\n"
	if proof != "" {
		head += proofName + " " + proof + "\n"
	}
	zip, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(out, head)
	return &frameWriter{out: out, zip: zip, total: sha256.New()}, err
}

// frame writes one payload, compressed.
func (w *frameWriter) frame(name, state string, payload []byte) error {
	var packed bytes.Buffer
	w.zip.Reset(&packed)
	if _, err := w.zip.Write(payload); err != nil {
		return err
	}
	if err := w.zip.Close(); err != nil {
		return err
	}
	sum := sha256.Sum256(packed.Bytes())
	w.total.Write(packed.Bytes())
	w.count++
	head := fmt.Sprintf("frame %s %s %d %s\n", name, state, packed.Len(), hex.EncodeToString(sum[:]))
	if _, err := io.WriteString(w.out, head); err != nil {
		return err
	}
	_, err := w.out.Write(append(packed.Bytes(), '\n'))
	return err
}

func (w *frameWriter) end() error {
	_, err := fmt.Fprintf(w.out, "end %d %s\n", w.count, hex.EncodeToString(w.total.Sum(nil)))
	return err
}

// ReadFrames decodes an agent's output, of which it reads and unpacks at most
// limit bytes each. It always returns what arrived whole, and an error that
// tells where the rest is missing or wrong. The recording is nil unless asked for. With a
// proof the answer must begin with it; without it nothing is taken from the answer.
func ReadFrames(in io.Reader, limit int64, proof string) (*probes.Facts, []byte, error) {
	d := decoder{
		proof: proof,
		in:    bufio.NewReaderSize(io.LimitReader(in, limit), 64<<10),
		left:  limit,
		total: sha256.New(),
		facts: &probes.Facts{Status: map[string]probes.ProbeState{}},
	}
	err := d.run()
	return d.facts, d.recording, err
}

type decoder struct {
	proof     string // what the first frame must say; empty: it was not asked
	in        *bufio.Reader
	left      int64 // bytes that may still be unpacked
	total     hash.Hash
	count     int
	last      string
	facts     *probes.Facts
	recording []byte
}

func (d *decoder) run() error {
	if err := d.skipJunk(); err != nil {
		return err
	}
	if err := d.prove(); err != nil {
		return err
	}
	var first error
	for d.count <= maxFrames {
		line, err := d.line()
		if err != nil {
			return errors.Join(first, fmt.Errorf("after frame %q: %w", d.last, ErrTruncated))
		}
		f := strings.Fields(line)
		switch {
		case len(f) == 3 && f[0] == "end":
			return errors.Join(first, d.finish(f[1], f[2]))
		case len(f) == 5 && f[0] == "frame":
			if fatal, err := d.frame(f); err != nil {
				if err = fmt.Errorf("frame %q: %w", f[1], err); fatal {
					return errors.Join(first, err)
				} else if first == nil {
					first = err
				}
			}
		default:
			return errors.Join(first, fmt.Errorf("after frame %q: %q is no frame", d.last, shorten(line)))
		}
	}
	return errors.Join(first, fmt.Errorf("more than %d frames", maxFrames))
}

// skipJunk reads to the magic line.
func (d *decoder) skipJunk() error {
	var junk strings.Builder
	for read := 0; read < maxJunk; {
		line, err := d.line()
		if strings.HasSuffix(line, magic) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("no answer of the agent, but %q: %w", shorten(junk.String()+line), ErrTruncated)
		}
		if read += len(line) + 1; junk.Len() < 400 {
			junk.WriteString(line + "\n")
		}
	}
	return fmt.Errorf("no answer of the agent in the first %d bytes, but %q", maxJunk, shorten(junk.String()))
}

// line reads one line of bounded length.
func (d *decoder) line() (string, error) {
	text, err := d.in.ReadSlice('\n')
	line := strings.TrimRight(string(text), "\r\n")
	if errors.Is(err, bufio.ErrBufferFull) {
		err = nil
	}
	return line, err
}

// frame reads one frame; fatal tells that the place in the stream is lost.
func (d *decoder) frame(head []string) (fatal bool, err error) {
	size, err := strconv.ParseInt(head[3], 10, 64)
	if err != nil || size < 0 || size > d.left {
		return true, fmt.Errorf("size %q is not believable", head[3])
	}
	var packed bytes.Buffer // grows with what arrives, not with what is promised
	if _, err := io.CopyN(&packed, d.in, size+1); err != nil {
		return true, fmt.Errorf("%d of %d bytes: %w", packed.Len(), size, ErrTruncated)
	}
	body := packed.Bytes()[:size]
	d.total.Write(body)
	d.count++
	d.last = head[1]
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != head[4] {
		return false, errors.New("checksum does not match")
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	payload, err := io.ReadAll(io.LimitReader(z, d.left+1))
	if err != nil {
		return false, err
	}
	if d.left -= int64(len(payload)); d.left < 0 {
		return true, errors.New("unpacks to more than the limit")
	}
	if head[1] == recordingName {
		d.recording = payload
		return false, nil
	}
	return false, apply(d.facts, payload)
}

func (d *decoder) finish(count, sum string) error {
	if count != strconv.Itoa(d.count) || sum != hex.EncodeToString(d.total.Sum(nil)) {
		return fmt.Errorf("%d frames arrived, %s were sent, or their checksum differs", d.count, count)
	}
	return nil
}

func shorten(s string) string {
	const enough = 200
	if s = strings.TrimSpace(s); len(s) > enough {
		return s[:enough] + "…"
	}
	return s
}
