// Package rbac holds the roles that the program needs, as they are to be applied.
package rbac

import _ "embed"

// The roles: reading everywhere, reading the logs of storage, and probing nodes.
var (
	//go:embed read.yaml
	Read []byte
	//go:embed logs.yaml
	Logs []byte
	//go:embed probe.yaml
	Probe []byte
)
