package render

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// TestSaying: of a record the message and the error are quoted, not the fields behind them.
func TestSaying(t *testing.T) {
	t.Parallel()
	for record, want := range map[string]string{
		`time="2026-01-02T11:59:00Z" level=error msg="GRPC error: rpc error: code = NotFound desc = volume not mounted" logLayer=csi_frontend requestID=1`:                                                                                                              "GRPC error: rpc error: code = NotFound desc = volume not mounted",
		`time="2026-01-02T11:59:00Z" level=error msg="unmount failed" cmd=umount error="invalid argument" path=/var/lib/kubelet/plugins/disks/vol`:                                                                                                                      "unmount failed: invalid argument",
		`E0102 11:58:40.655107       1 manager.go:373] "failed to wait for request to be ready" err="issuer.cert-manager.io \"ca\" not found" pod_name="web-0"`:                                                                                                         `failed to wait for request to be ready: issuer.cert-manager.io "ca" not found`,
		`I0102 11:58:40.655107       1 event.go:389] "Event occurred" object="shop/data" kind="PersistentVolumeClaim" type="Warning" reason="ProvisioningFailed" message="failed to provision volume with StorageClass \"fast\": rpc error: code = Internal desc = no"`: `failed to provision volume with StorageClass "fast": rpc error: code = Internal desc = no`,
		`{"level":"error","msg":"cannot attach volume","error":"unable to attach: Server is currently locked","volume-id":"6ff1"}`:                                                                                                                                      "cannot attach volume: unable to attach: Server is currently locked",
		`E0102 11:58:40.655107       1 utils.go:84] GRPC error: rpc error: code = Internal desc = remove /x: device or resource busy`:                                                                                                                                   "",
		`  2026-01-02T11:58:20.468832Z ERROR csi_node::node: Failed to stage volume: attach failed: IO error`:                                                                                                                                                           "",
	} {
		if got := saying(record); got != want {
			t.Errorf("%s: %q", record, got)
		}
	}
}

// TestUsage: what is wrong is quoted, not how the program wants to be called.
func TestUsage(t *testing.T) {
	t.Parallel()
	const wrong = "output:(mke2fs 1.46.5 (30-Dec-2021) mkfs.ext4: invalid blocks '-1' on device '-N'"
	for _, line := range []string{"\n", `\n`} {
		text := "output:(mke2fs 1.46.5 (30-Dec-2021) mkfs.ext4: invalid blocks '-1' on device '-N'" + line + "Usage: mkfs.ext4 [-c|-l filename] [-b block-size] device [blocks-count]" + line + ")"
		if got := words(report.Evidence{Source: "event", Text: text}); got != wrong {
			t.Errorf("%q", got)
		}
	}
	if got := words(report.Evidence{Text: "Usage: mount"}); got != "Usage: mount" {
		t.Errorf("%q", got)
	}
}
