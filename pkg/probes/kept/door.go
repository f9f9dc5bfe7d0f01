package kept

import (
	"path"
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mask"
)

// Door is a machine of which only what may be known is seen. Probes look through
// it, live and in a replay, so that no secret enters facts, reports or recordings.
func Door(h host.Host) host.Host {
	if _, recorder := h.(*host.Recorder); recorder {
		return h // the door is behind it: what it records was seen through one
	}
	return door{h}
}

type door struct{ host.Host }

// ReadFile returns what may be known of a file.
func (d door) ReadFile(name string, limit int) ([]byte, error) {
	data, err := d.Host.ReadFile(name, limit)
	return Content(name, data), err
}

// ReadTail is ReadFile for the end of a log.
func (d door) ReadTail(name string, limit int) ([]byte, error) {
	data, err := host.ReadTail(d.Host, name, limit)
	return Content(name, data), err
}

// ReadDir returns the names that a recording would show, so that what is known live
// is what is known of a capture.
func (d door) ReadDir(dir string) ([]string, error) {
	names, err := d.Host.ReadDir(dir)
	return slices.DeleteFunc(names, func(n string) bool { return !shown(path.Join(dir, n)) }), err
}

// KernelLog returns the records that rules know.
func (d door) KernelLog() ([]byte, error) {
	data, err := d.Host.KernelLog()
	return []byte(kernelLog(string(data))), err
}

// Multipathd returns the daemon's answer without secrets.
func (d door) Multipathd(command string) (string, error) {
	text, err := d.Host.Multipathd(command)
	return multipathAnswer(command, text), err
}

// multipathAnswer masks an answer; what the daemon shows of its configuration is
// judged like the file.
func multipathAnswer(command, text string) string {
	if command == "show config" || command == "show config local" {
		return multipath(text)
	}
	return mask.Text(text)
}

// Told is what a recording tells of a probe, when this is a replay.
func (d door) Told(probe string) (text string, ok bool) {
	if r, is := d.Host.(interface {
		Told(string) (string, bool)
	}); is {
		return r.Told(probe)
	}
	return "", false
}
