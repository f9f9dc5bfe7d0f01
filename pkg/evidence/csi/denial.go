package csi

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"

// Denial is an identity of a driver that somebody turns down, and how that was told.
type Denial struct {
	Who  Identity
	Call Call
	Says string // missing | closed | malformed | refused | configured (the same, of a storage with users of its own) | none (there is no identity to show) | turned (by the kernel's client) | keys (by the service that keeps the keys)
	What string // the action, principal, user or line that tells
	Said []evidence.Answer
	Sure []evidence.Answer // not seen: what is wrong with the identity is not named
	Over evidence.Answer   // it is over
}

// DenialOf finds that of a place's volume in fresh words: a Secret that is not there or not readable, a
// user's name that is none, or the storage's refusal.
func DenialOf(pl *evidence.Place) (Denial, bool) {
	for _, t := range pl.Refused() {
		call, said := callOf(t), evidence.Yes(t.Evidence())
		if ns, name, known, ok := absentSecret(pl.Volume, call, t); ok && !ofNone(pl.Volume, t, ns, name) {
			d := Denial{Who: Identity{Kind: "Secret", Namespace: ns, Name: name}, Call: call, Says: "missing", Said: []evidence.Answer{said}, Over: evidence.No()}
			if _, named := placeOf(pl.Volume, call, name); !named && placeless(t) {
				d.Sure = []evidence.Answer{evidence.Unseen(evidence.Lack{Need: "the namespace in which the driver looks for Secret " + name, Why: "nobody names it"})}
			}
			if !known {
				d.Says, d.Sure = "closed", []evidence.Answer{evidence.Unseen(evidence.Lack{Need: "whether the secret exists", Why: "nobody says why it was not read"})}
			}
			return d, true
		}
		if call == "" {
			continue
		}
		if what, bad := Malformed(pl, t); bad.Yes() {
			return denial(identityFor(pl, call, t.Node), call, "malformed", what, said, bad), true
		}
		if unfit.MatchString(t.Raw) {
			d := denial(identityFor(pl, call, t.Node), call, "malformed", "the client of Ceph does not accept the user or its key, before the cluster is asked", said)
			d.Sure = []evidence.Answer{evidence.Unseen(evidence.Lack{Need: "the content of the driver's credentials", Why: "secrets are never read, and broken settings of the client end alike"})}
			return d, true
		}
		if r, ok := refusalIn(pl, t); ok {
			return denied(pl, r), true
		}
	}
	return Denial{}, false
}

// denied is a refusal: sure when the storage names what it refuses or to whom.
func denied(pl *evidence.Place, r Refusal) Denial {
	d := denial(identityFor(pl, r.Call, r.Text.Node), r.Call, "refused", r.Named, evidence.Yes(r.Text.Evidence()))
	d.Over = workedSince(pl, r)
	switch {
	case ofKeys.MatchString(r.Text.Raw): // whom that service knows stands in the driver's configuration of it
		d.Says, d.Who, d.Said = "keys", Identity{}, d.Said[:1]
	case r.None:
		d.Says = "none"
	case d.Who.Pod != "" && !ofRoles(driverOf(pl.Volume)):
		d.Says = "configured"
	}
	if r.Named == "" {
		d.Sure = []evidence.Answer{evidence.Unseen(evidence.Lack{Need: "the rights and the content of the driver's credentials", Why: "the refusal names neither action nor user"})}
	}
	return d
}

// Turned is what the kernel's client of a storage says in a line when it mounts with an identity.
func Turned(pl *evidence.Place, line string, said, sure evidence.Answer) Denial {
	d := denial(identityFor(pl, Stage, ""), Stage, "turned", line, said)
	d.Sure = []evidence.Answer{sure}
	return d
}

// denial quotes who it is beside what was said.
func denial(who Identity, call Call, says, what string, said ...evidence.Answer) Denial {
	if who.Fact.Locator != "" {
		said = append(said, evidence.Yes(who.Fact))
	}
	return Denial{Who: who, Call: call, Says: says, What: what, Said: said, Over: evidence.No()}
}
