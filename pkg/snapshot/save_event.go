package snapshot

import (
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mask"
)

// savedEvent is an event as core/v1 has it, with the fields that rules read.
type savedEvent struct {
	APIVersion     string      `json:"apiVersion"`
	Kind           string      `json:"kind"`
	Metadata       savedMeta   `json:"metadata"`
	InvolvedObject savedObject `json:"involvedObject"`
	Reason         string      `json:"reason,omitempty"`
	Message        string      `json:"message,omitempty"`
	Type           string      `json:"type,omitempty"`
	Count          int         `json:"count,omitempty"`
	Source         savedSource `json:"source"`
	First          string      `json:"firstTimestamp,omitempty"`
	Last           string      `json:"lastTimestamp,omitempty"`
	EventTime      string      `json:"eventTime,omitempty"`
	Series         *savedMany  `json:"series,omitempty"`
}

type savedMeta struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
}

type savedObject struct {
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	UID       string `json:"uid,omitempty"`
}

type savedSource struct {
	Component string `json:"component,omitempty"`
	Host      string `json:"host,omitempty"`
}

type savedMany struct {
	Count int    `json:"count"`
	Last  string `json:"lastObservedTime"`
}

// saved is what a capture holds of an event. Times with fractions of a second need
// the fields of the newer API: the older ones have none.
func (e *Event) saved() savedEvent {
	const micros = "2006-01-02T15:04:05.000000Z07:00"
	out := savedEvent{
		APIVersion: "v1", Kind: "Event", Metadata: savedMeta{e.Name, e.Namespace},
		InvolvedObject: savedObject{e.Kind, e.ObjNamespace, e.ObjName, e.ObjUID},
		Reason:         e.Reason, Message: mask.Text(e.Message), Type: e.Type, Count: e.Count,
		Source: savedSource{e.Component, e.Host},
	}
	switch {
	case e.First.IsZero():
	case e.First.Nanosecond() == 0:
		out.First = e.First.UTC().Format(time.RFC3339)
	default:
		out.EventTime = e.First.UTC().Format(micros)
	}
	switch {
	case e.Last.IsZero():
	case e.Last.Nanosecond() == 0:
		out.Last = e.Last.UTC().Format(time.RFC3339)
	default:
		out.Series = &savedMany{e.Count, e.Last.UTC().Format(micros)}
	}
	return out
}

// housekeeping are the reasons of events about the ordinary life of pods and nodes,
// which no rule reads. In a busy namespace they are most events.
func (e *Event) housekeeping() bool {
	if e.Type != "Normal" {
		return false
	}
	switch e.Reason {
	case "Created", "Started", "SuccessfulCreate", "SuccessfulDelete", "ScalingReplicaSet", "NoPods", "LeaderElection",
		"NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID", "NodeAllocatableEnforced", "RegisteredNode":
		return true
	case "Pulled", "Pulling", "Scheduled":
		return systemSpace.MatchString(e.ObjNamespace) && e.ObjNamespace != "default" // of pods with volumes they tell the time
	case "Ready", "Schedulable":
		return e.Kind == "Node" // Longhorn's
	}
	return false
}
