package render

// paint adds ANSI colours; the zero value adds nothing.
type paint struct{ on bool }

const (
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
	reset  = "\x1b[0m"
)

func (p paint) in(code, s string) string {
	if !p.on || s == "" {
		return s
	}
	return code + s + reset
}

var verdictColor = map[string]string{
	"broken": bold + red, "degraded": bold + yellow, "waiting": bold + cyan,
	"healthy": bold + green, "unknown": bold + yellow,
}

var riskColor = map[string]string{"reversible": cyan, "disruptive": yellow, "data-loss": red}

var severityColor = map[string]string{"blocking": red, "degraded": yellow, "risk": cyan}
