package noise

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/ceph"
)

// rbdMirrorWatches: the driver says that an image is in use, and a daemon that mirrors
// images runs in the cluster. It watches what it mirrors; a driver that knows of fewer
// daemons takes it for a user.
var rbdMirrorWatches = &diagnosis.NoiseRule{Name: "rbd-mirror-watches", Run: func(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		use, said := ceph.SaidInUse(&evidence.Place{X: p.Index, Volume: v, Texts: p.Texts(v)})
		if !said {
			continue
		}
		for _, pod := range ceph.Mirrors(p.Index) {
			p.AddNoise(diagnosis.PodSubject(pod), fmt.Sprintf("The driver calls image %s still being used, and pod %s/%s mirrors RBD images of this storage.", use.Image(), pod.Namespace, pod.Name),
				"a mirror daemon watches what it mirrors, so the sentence proves no other user; rbd status tells who watches, and rbd.mirrorDaemonCount in the driver's configuration how many daemons it expects")
		}
	}
}}
