package provision_test

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/provision"
)

func TestAbout(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`Internal error occurred: failed calling webhook "validator.longhorn.io": context deadline exceeded`: "the control plane of the storage did not answer a webhook",
		"rpc error: code = ResourceExhausted desc = insufficient free space":                                 "capacity or quota is exhausted",
		"rpc error: code = Internal desc = VolumeSizeExceedsAvailableQuota: exceeds allowed quota":           "capacity or quota is exhausted",
		"rpc error: code = NotFound desc = volume source snapshot s-1 not found":                             "its source does not exist or cannot be read",
		"rpc error: code = PermissionDenied desc = access denied":                                            "the storage refuses the driver's user",
		"rpc error: code = InvalidArgument desc = type gp9":                                                  "a parameter of the request is not accepted",
		"rpc error: code = DeadlineExceeded desc = context deadline exceeded":                                "the storage did not answer in time",
		"rpc error: code = Internal desc = XFS filesystems with size less than 300MB":                        "the size is below the least size of XFS",
		"rpc error: code = Internal desc = no reason":                                                        "its own words are quoted below",
	} {
		if got, help := provision.About(evidence.Text{Raw: text}); got != want || help == "" {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestFirstHand(t *testing.T) {
	t.Parallel()
	own := message.Parse(`failed to provision volume with StorageClass "fast": rpc error: code = Internal desc = no`)
	if a := provision.FirstHand(evidence.Text{Fresh: true, Failure: own}); !a.Yes() {
		t.Error("the driver's fresh word is first hand")
	}
	if a := provision.FirstHand(evidence.Text{Failure: own}); !a.Unseen() {
		t.Error("an old word is none of now")
	}
	if a := provision.FirstHand(evidence.Text{Fresh: true}); !a.Unseen() {
		t.Error("somebody else's word is not the driver's")
	}
}

func TestQuoted(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 400)
	if got := provision.Quoted(evidence.Text{Raw: long}); len([]rune(got)) != 303 || !strings.HasSuffix(got, `…"`) {
		t.Errorf("cut to %d characters: %s", len([]rune(got)), got)
	}
	if got := provision.Quoted(evidence.Text{Raw: "outer: inner", Failure: message.Failure{Desc: "inner"}}); got != `"inner"` {
		t.Errorf("got %s", got)
	}
}
