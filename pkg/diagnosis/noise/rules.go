// Package noise recognises what is seen and explains nothing: one file per name.
// No rule may raise its certainty because of noise.
package noise

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"

// Rules are all kinds of noise, in the order of the report.
var Rules = []*diagnosis.NoiseRule{
	apparmorDenialUnrelated,
	selinuxDenialUnrelated,
	iscsiOrphanSessionLog,
	blockFrontendTransient,
	orphanedPodLog,
	multiAttachTextOld,
	volumeDegradedHarmless,
	rbdMirrorWatches,
}
