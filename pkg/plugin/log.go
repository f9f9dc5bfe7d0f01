package plugin

import (
	"flag"
	"io"
	"strconv"

	"k8s.io/klog/v2"
)

// logAt shows what client-go logs up to a level, as kubectl's -v does. Without it
// nothing: its errors come back as errors, and are said once.
func logAt(level int, out io.Writer) {
	fs := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(fs)
	must(fs.Set("logtostderr", "false"))
	must(fs.Set("stderrthreshold", "FATAL"))
	if level <= 0 {
		klog.SetOutput(io.Discard)
		return
	}
	must(fs.Set("v", strconv.Itoa(level)))
	must(fs.Set("one_output", "true"))
	klog.SetOutput(out)
}
