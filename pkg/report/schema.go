package report

import _ "embed"

// Schema is the JSON schema (draft 2020-12) of a report.
//
//go:embed schema.json
var Schema []byte

// PreflightSchema is that of a preflight; it refers to Schema as report.json.
//
//go:embed preflight.json
var PreflightSchema []byte
