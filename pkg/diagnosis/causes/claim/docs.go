package claim

import "embed"

// docs are the documents of the causes of this folder, by the name of the cause.
//
//go:embed *.md
var docs embed.FS
