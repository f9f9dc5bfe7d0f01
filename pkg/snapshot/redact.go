package snapshot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// Redaction is a redacted snapshot with the words that made it.
type Redaction struct {
	Snapshot *Snapshot
	words    *vocabulary
}

// Word is what a whole name became, such as that of the asked claim.
func (r *Redaction) Word(s string) string { return r.words.whole(s) }

// Redact returns the same snapshot with other words: names of namespaces, workloads,
// claims, volumes, nodes and hosts, addresses, IQNs and WWIDs become tokens. One
// input always becomes the same token, and what is derived from names (VolumeAttachment
// names, staging paths) is derived anew, so that a diagnosis finds the same causes.
//
// Kept are what rules know by name: drivers, namespaces and pods of the system,
// StorageClass parameters, kernel texts, times, sizes, and UIDs, which are random.
// The key makes tokens of two captures comparable (same key) or not.
func Redact(s *Snapshot, key []byte) (*Redaction, error) {
	words := newVocabulary(key)
	words.learn(s)
	files := tree{}
	err := write(s, func(name string, data []byte) error {
		out, err := words.file(name, data)
		if err != nil {
			return fmt.Errorf("redact %s: %w", name, err)
		}
		files[words.fileName(name)] = out
		return nil
	})
	if err != nil {
		return nil, err
	}
	out, err := decodeTree(files)
	if err != nil {
		return nil, fmt.Errorf("redact snapshot: %w", err)
	}
	return &Redaction{Snapshot: out, words: words}, nil
}

// file redacts one file of the tree.
func (w *vocabulary) file(name string, data []byte) ([]byte, error) {
	switch {
	case strings.HasPrefix(name, clusterDir+"/"):
		return w.objects(data)
	case strings.HasPrefix(name, nodesDir+"/"):
		return w.recording(data), nil
	}
	return []byte(w.text(string(data))), nil
}

// fileName redacts the parts of nodes/NODE.txtar and logs/NS/POD/CONTAINER.log.
func (w *vocabulary) fileName(name string) string {
	dir, rest, ok := strings.Cut(name, "/")
	if !ok || dir == clusterDir {
		return name
	}
	parts := strings.Split(rest, "/")
	for i, p := range parts {
		ext := path.Ext(p)
		if i < len(parts)-1 || ext != recordingExt && ext != logExt {
			ext = ""
		}
		word := strings.TrimSuffix(p, ext)
		if token, ok := w.exact[word]; ok {
			parts[i] = token + ext
		} else {
			parts[i] = w.text(word) + ext
		}
	}
	return dir + "/" + strings.Join(parts, "/")
}

// recording redacts a host recording. Its comment tells a story in free words and goes.
func (w *vocabulary) recording(data []byte) []byte {
	if i := bytes.Index(data, []byte("\n-- ")); i >= 0 && !bytes.HasPrefix(data, []byte("-- ")) {
		data = data[i+1:]
	}
	return []byte(w.text(string(data)))
}

// objects redacts a JSON list: values, never keys of the schema; maps whose keys are
// the user's (labels, annotations, tickets) are handled by name.
func (w *vocabulary) objects(data []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var list map[string]any
	if err := d.Decode(&list); err != nil {
		return nil, err
	}
	items, _ := list["items"].([]any)
	for i := range items {
		items[i] = w.value(items[i], "")
	}
	return json.Marshal(list)
}

// systemDomain tells whether a label or annotation key belongs to Kubernetes, CSI or
// a storage system.
func systemDomain(key string) bool {
	domain, _, ok := strings.Cut(key, "/")
	if !ok {
		return false
	}
	for _, d := range []string{"kubernetes.io", "k8s.io", "longhorn.io", "csi.k8s.io"} {
		if domain == d || strings.HasSuffix(domain, "."+d) {
			return true
		}
	}
	return false
}

// value walks a JSON value. Keys are redacted only where users or nodes name them.
func (w *vocabulary) value(v any, field string) any {
	switch x := v.(type) {
	case string:
		switch t, ok := w.exact[x]; {
		case schemaField[field]:
			return w.sweep(x)
		case ok:
			return t
		case labelKey[field]:
			return w.keyName(x)
		}
		return w.text(x)
	case []any:
		for i := range x {
			x[i] = w.value(x[i], field)
		}
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, item := range x {
			out[w.keyOf(k, field)] = w.value(item, k)
		}
		return out
	}
	return v
}

// labelKey are fields that hold the key of a label.
var labelKey = map[string]bool{"key": true, "topologyKey": true, "topologyKeys": true}

// schemaField are fields whose values are words of the API, not names.
var schemaField = map[string]bool{
	"kind": true, "apiVersion": true, "type": true, "phase": true, "status": true, "reason": true, "state": true,
	"driver": true, "provisioner": true, "attacher": true, "fsType": true, "volumeMode": true,
	"accessModes": true, "mountPropagation": true, "effect": true, "operator": true, "dataEngine": true, "frontend": true,
	"robustness": true, "protocol": true,
}

// namedKeys are maps whose keys are of somebody's own making.
var namedKeys = map[string]bool{
	"attachmentTickets": true, "attachmentTicketStatuses": true, "nodeDeploymentMap": true, "instanceEngines": true, "instanceReplicas": true,
	"instances": true, "replicaAddressMap": true, "replicaModeMap": true, "replicaTransitionTimeMap": true, "currentReplicaAddressMap": true,
	"scheduledReplica": true, "disks": true, "diskStatus": true, "diskFileStatusMap": true, "restoreStatus": true, "cloneStatus": true,
	"labels": true, "annotations": true, "matchLabels": true, "nodeSelector": true, "selector": true,
	"requests": true, "limits": true, "capacity": true, "allocatable": true, "allocatedResourceStatuses": true, "allocatedResources": true,
	"parameters": true, "volumeAttributes": true, "options": true, "attachmentMetadata": true,
}

func (w *vocabulary) keyOf(k, parent string) string {
	if !namedKeys[parent] {
		return k
	}
	if t, ok := w.exact[k]; ok && parent != "labels" && parent != "matchLabels" {
		return t
	}
	return w.keyName(k)
}

// keyName is the key of a label, an annotation or a parameter: those of Kubernetes and of
// storage systems stay.
func (w *vocabulary) keyName(k string) string {
	if systemDomain(k) {
		return w.sweep(k)
	}
	return w.text(k)
}
