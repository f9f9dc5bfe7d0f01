package host

// AsLive returns the recorded machine as a running one: the probes decide what to ask, and
// get only the answers to that and to what the caller wants besides, by kind. What a
// recording holds and no probe would ask on a machine stays unknown.
func (r *Recorded) AsLive(wanted map[string][]string) Host { return asLive{r, wanted} }

type asLive struct {
	Host
	wanted map[string][]string
}

// Given is false.
func (asLive) Given() bool { return false }

// Asked are the wanted questions, and the numbers by which a recording knows files that it
// has no links of.
func (a asLive) Asked(kind string) []string {
	if kind == "dev" {
		return a.Host.Asked(kind)
	}
	return a.wanted[kind]
}
