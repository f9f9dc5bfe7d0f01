package causes

import "testing"

// TestClaimsThatWerePlaced: a claim for which a node was chosen waits for its provisioner, and for no pod any more.
func TestClaimsThatWerePlaced(t *testing.T) {
	t.Parallel()
	const class = "WaitForFirstConsumer"
	claim := func(driver, annotations string) *world { return pendingClaim(vol(driver, "h", ""), class, annotations) }
	young := func(w *world) *world {
		return w.EditIn("name: web-0, uid", "2026-01-02T11:30:00Z", "2026-01-02T11:59:20Z")
	}
	controllerless := func(w *world) *world { return w.Drop("name: controller-0") }
	showEach(t, map[string]shown{
		"nobody ever wanted it":                   {claim("topolvm.io", ""), "waiting"},
		"its pod is gone":                         {claim("topolvm.io", anno("topolvm.io")+on("n1")), "broken: unexplained claim-pending"},
		"its pod is gone, and so the provisioner": {controllerless(claim("topolvm.io", anno("topolvm.io")+on("n1"))), "broken: unexplained claim-pending"},
		"another pod just came":                   {young(claim("topolvm.io", anno("topolvm.io")+on("n1")).Waits()), "waiting"},
		"it was made a moment ago":                {claim("topolvm.io", anno("topolvm.io")+on("n1")).EditIn("kind: PersistentVolumeClaim", "2026-01-02T11:30:00Z", "2026-01-02T11:59:20Z"), "waiting"},
	})
}
