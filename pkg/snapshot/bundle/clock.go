package bundle

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// clock is when the bundle was made: what it says itself, or the latest moment that one
// of its objects tells, or when its files were written. Rules have no other clock.
func (b *importer) clock() time.Time {
	said, told := b.said(), b.told()
	switch {
	case said.IsZero() && told.IsZero():
		return b.newest()
	case said.IsZero():
		return told
	case told.After(said) && told.Sub(said) < time.Hour:
		return told // collecting takes a while
	}
	return said
}

// created is the first thing that some tools write, in UTC.
var created = regexp.MustCompile(`(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)?(?: ?(Z|[+-]\d\d:?\d\d))`)

// said is what the bundle says of itself.
func (b *importer) said() time.Time {
	var last time.Time
	for _, name := range b.names() {
		text := ""
		switch {
		case b.layout == supportBundle && path.Base(name) == "metadata.yaml":
			text = b.metadata(name)["bundlecreatedat"]
		case b.layout == mustGather && path.Base(name) == "timestamp":
			text = string(b.files[name].data)
		}
		for _, m := range created.FindAllStringSubmatch(text, -1) {
			zone := strings.ReplaceAll(m[3], ":", "")
			if zone == "Z" {
				zone = "+0000"
			}
			if t, err := time.Parse("2006-01-02T15:04:05-0700", m[1]+"T"+m[2]+zone); err == nil && t.After(last) {
				last = t.UTC()
			}
		}
	}
	return last
}

// metadata is what support-bundle-kit says of a bundle, with its keys in lower case.
func (b *importer) metadata(name string) map[string]string {
	var raw map[string]any
	if yaml.Unmarshal(b.files[name].data, &raw) != nil {
		return nil
	}
	out := map[string]string{}
	for k, v := range raw {
		if s, ok := v.(string); ok {
			out[strings.ToLower(k)] = s
		}
	}
	return out
}

// past are the fields that hold a moment which was over when the object was read.
var past = map[string]bool{
	"creationTimestamp": true, "firstTimestamp": true, "lastTimestamp": true, "eventTime": true, "lastObservedTime": true,
	"lastTransitionTime": true, "lastHeartbeatTime": true, "lastProbeTime": true, "lastUpdateTime": true, "renewTime": true,
	"startTime": true, "startedAt": true, "finishedAt": true, "completionTime": true, "time": true,
}

var moment = regexp.MustCompile(`"(\w+)":\s*"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)"`)

// told is the latest moment that the objects tell.
func (b *importer) told() time.Time {
	var last time.Time
	for _, o := range b.order {
		for _, m := range moment.FindAllSubmatch(o.raw, -1) {
			if !past[string(m[1])] {
				continue
			}
			if t, err := time.Parse(time.RFC3339Nano, string(m[2])); err == nil && t.After(last) {
				last = t.UTC()
			}
		}
	}
	return last
}

// server is the version of the API server, where the bundle tells it.
func (b *importer) server() string {
	for _, name := range b.names() {
		switch {
		case b.layout == supportBundle && path.Base(name) == "metadata.yaml":
			return b.metadata(name)["kubernetesversion"]
		case b.layout == troubleshoot && path.Base(name) == "cluster_version.json":
			var v struct {
				String string `json:"string"`
			}
			if json.Unmarshal(b.files[name].data, &v) == nil {
				return v.String
			}
		}
	}
	return ""
}
