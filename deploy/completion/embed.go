// Package completion holds the program with which kubectl completes the plugin.
package completion

import _ "embed"

// Shim is what has to stand as kubectl_complete-mountdoctor in PATH.
//
//go:embed kubectl_complete-mountdoctor
var Shim []byte
