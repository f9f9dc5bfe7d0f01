package host

import (
	"strconv"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// Clock passes on; the first answer is kept.
func (r *Recorder) Clock() (Clock, error) {
	c, err := r.inner.Clock()
	if err == nil {
		seconds := strconv.FormatFloat(c.Uptime.Seconds(), 'f', -1, 64)
		r.answer("clock", "", c.Wall.Format(time.RFC3339Nano)+"\n"+seconds, nil)
	}
	return c, err
}

// Tell adds what the recording shall tell of a probe beyond its entries.
func (r *Recorder) Tell(probe, text string) { r.answer("probe", probe, text, nil) }

// Hostname passes on and remembers.
func (r *Recorder) Hostname() (string, error) {
	name, err := r.inner.Hostname()
	r.answer("hostname", "", name, err)
	return name, err
}

// KernelLog passes on and remembers.
func (r *Recorder) KernelLog() ([]byte, error) {
	log, err := r.inner.KernelLog()
	r.answer("kmsg", "", string(log), err)
	return log, err
}

// Claim passes on and remembers.
func (r *Recorder) Claim(d probes.Dev) (string, error) {
	text, err := r.inner.Claim(d)
	r.answer("claim", d.String(), text, err)
	return text, err
}

// Content passes on and remembers.
func (r *Recorder) Content(d probes.Dev) (probes.Content, error) {
	c, err := r.inner.Content(d)
	r.answer("content", d.String(), formatContent(c), err)
	return c, err
}

// DevOf passes on and remembers.
func (r *Recorder) DevOf(link string) (probes.Dev, error) {
	d, err := r.inner.DevOf(link)
	if !gone(err) {
		r.answer("dev", link, d.String(), err)
	}
	return d, err
}

// Statfs passes on and remembers.
func (r *Recorder) Statfs(path string) (probes.FSStat, error) {
	s, err := r.inner.Statfs(path)
	r.answer("statfs", clean(path), formatStatfs(s), err)
	return s, err
}

// Dial passes on and remembers.
func (r *Recorder) Dial(hostport string) (string, error) {
	text, err := r.inner.Dial(hostport)
	r.answer("dial", hostport, text, err)
	return text, err
}

// Resolve passes on and remembers.
func (r *Recorder) Resolve(name string) (string, error) {
	text, err := r.inner.Resolve(name)
	r.answer("resolve", name, text, err)
	return text, err
}

// Multipathd passes on and remembers.
func (r *Recorder) Multipathd(command string) (string, error) {
	text, err := r.inner.Multipathd(command)
	r.answer("multipathd", command, text, err)
	return text, err
}
