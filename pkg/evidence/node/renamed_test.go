package node_test

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
)

// TestNowCalled: a machine that registered under another name is told from a clone and from a successor.
func TestNowCalled(t *testing.T) {
	t.Parallel()
	const nodes = `
apiVersion: v1
kind: Node
metadata: {name: old, creationTimestamp: '2025-12-01T08:00:00Z'}
status: {conditions: [{type: Ready, status: Unknown}], nodeInfo: {systemUUID: u-1}, addresses: [{type: InternalIP, address: 10.0.0.7}, {type: Hostname, address: old}]}
---
apiVersion: v1
kind: Node
metadata: {name: new, creationTimestamp: '2026-01-02T11:00:00Z'}
status: {conditions: [{type: Ready, status: 'True'}], nodeInfo: {systemUUID: u-1}, addresses: [{type: InternalIP, address: 10.0.0.7}, {type: Hostname, address: new}]}
`
	for name, c := range map[string]struct{ before, after, want string }{
		"renamed":                       {"name: new", "name: new", "new"},
		"a clone":                       {"address: 10.0.0.7}, {type: Hostname, address: new", "address: 10.0.0.8}, {type: Hostname, address: new", ""},
		"another machine, same address": {"status: 'True'}], nodeInfo: {systemUUID: u-1}", "status: 'True'}], nodeInfo: {systemUUID: u-2}", ""},
		"nobody knows the machine":      {"status: 'True'}], nodeInfo: {systemUUID: u-1}", "status: 'True'}], nodeInfo: {}", ""},
		"silent, too":                   {"status: 'True'", "status: Unknown", ""},
		"its old name, given back":      {"2026-01-02T11:00:00Z", "2025-11-02T11:00:00Z", "new"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sketch.New(nodes)
			if c.before != c.after {
				s.Edit(c.before, c.after)
			}
			if got := node.NowCalled(s.Index(t), "old"); got != c.want {
				t.Errorf("it is %q, want %q", got, c.want)
			}
		})
	}
}
