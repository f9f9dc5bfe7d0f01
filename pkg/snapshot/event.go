package snapshot

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Event is core/v1 or events.k8s.io/v1 Event, reduced to what rules read.
type Event struct {
	metav1.ObjectMeta
	Kind, ObjNamespace, ObjName, ObjUID string // of the object that it speaks of
	Reason, Message, Type               string
	Component, Host                     string
	Count                               int
	First, Last                         time.Time // Last: series, lastTimestamp or eventTime, whichever is latest
}
