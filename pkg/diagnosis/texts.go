package diagnosis

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"

// texts holds what was said about each volume of a question.
type texts struct {
	byVolume map[*snapshot.Volume][]Text
}

func newTexts(x *snapshot.Index, s scope) *texts {
	return &texts{byVolume: map[*snapshot.Volume][]Text{}}
}

func (t *texts) of(v *snapshot.Volume) []Text { return t.byVolume[v] }
