package vm

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// Result is one scenario, as the guest left it.
type Result struct {
	Name      string
	Volume    string
	PodUID    string
	Device    string // MAJOR:MINOR of the volume's disk
	Before    string // the one that it was at an earlier login
	Disk      string // its name in the kernel
	Map       string // MAJOR:MINOR of a map over the disk
	Server    string // of a shared volume
	Driver    string // of the volume
	Unused    bool   // no pod of this machine has the volume
	Source    string // of a mount
	Target    string // of iSCSI
	WWID      string // of the volume's disk
	Refused   string // what the last program said that did not get its way
	Took      time.Duration
	Left      string  // threads of the agent that outlived it
	Above     string  // what lies on the disk after the printed steps
	Code      string  // its exit code; empty when it had to be killed
	Log       []byte  // of the share's server
	Sessions  []int   // how many the server had begun, each time that the script counted
	Twin      *Result // what the second machine of two saw
	Facts     *probes.Facts
	Recording []byte
}

// answerLimit is far above what a node can have to say.
const answerLimit = 64 << 20

// Read reads the results of one scenario.
func Read(dir string) (*Result, error) {
	r := &Result{Name: filepath.Base(dir)}
	if err := r.readFacts(filepath.Join(dir, "facts")); err != nil {
		return nil, err
	}
	refused, err := os.ReadFile(filepath.Join(dir, "refused"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if r.Log, err = os.ReadFile(filepath.Join(dir, "server.log")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if other := filepath.Join(filepath.Dir(dir), second, r.Name); exists(other) {
		if r.Twin, err = Read(other); err != nil {
			return nil, err
		}
	}
	r.Refused = strings.TrimSpace(string(refused))
	answer, err := os.ReadFile(filepath.Join(dir, "answer"))
	if err != nil {
		return nil, err
	}
	if r.Facts, r.Recording, err = agent.ReadFrames(bytes.NewReader(answer), answerLimit, ""); err != nil {
		words, _ := os.ReadFile(filepath.Join(dir, "errors"))
		return nil, fmt.Errorf("%s: %w: %s", r.Name, err, words)
	}
	return r, nil
}

// readFacts reads KEY=VALUE lines; the last one of a key counts.
func (r *Result) readFacts(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "volume":
			r.Volume = value
		case "pod_uid":
			r.PodUID = value
		case "device":
			r.Before, r.Device = r.Device, value
		case "disk":
			r.Disk = value
		case "map":
			r.Map = value
		case "server":
			r.Server = value
		case "driver":
			r.Driver = value
		case "unused":
			r.Unused = true
		case "source":
			r.Source = value
		case "target":
			r.Target = value
		case "wwid":
			r.WWID = value
		case "above":
			r.Above = strings.TrimSpace(value)
		case "left":
			r.Left = value
		case "code":
			r.Code = value
		case "sessions":
			n, err := strconv.Atoi(value)
			if err != nil {
				return fmt.Errorf("%s: %w", r.Name, err)
			}
			r.Sessions = append(r.Sessions, n)
		case "seconds":
			seconds, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return fmt.Errorf("%s: %w", r.Name, err)
			}
			r.Took = time.Duration(seconds * float64(time.Second))
		}
	}
	return nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// Clock is when the guest was looked at.
func (r *Result) Clock() (time.Time, error) {
	recorded, err := host.ParseRecording(r.Recording)
	if err != nil {
		return time.Time{}, err
	}
	clock, err := recorded.Clock()
	return clock.Wall, err
}
