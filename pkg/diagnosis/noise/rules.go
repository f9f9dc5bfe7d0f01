// Package noise recognises what is seen and explains nothing: one file per name.
package noise

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"

// Rules are all kinds of noise.
var Rules = []*diagnosis.NoiseRule{}
