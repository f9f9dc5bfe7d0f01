package message

import (
	"strings"
	"testing"
)

func TestOrdinary(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		`time="2026-11-22T08:31:36Z" level=info msg="No need for unmount not a mount point /var/lib/kubelet/x"`:    true,
		`time="2026-11-22T08:31:36Z" level=error msg="failed to unmount"`:                                          false,
		`[longhorn] time="2026-11-22T08:31:36Z" level=warning msg="target is busy"`:                                false,
		`I1122 08:31:36.264466       1 utils.go:100] GRPC response: {}`:                                            true,
		`E1122 08:31:36.264466       1 utils.go:100] GRPC error: target is busy`:                                   false,
		`{"level":"info","ts":1700000000,"msg":"target is busy"}`:                                                  true,
		`{"GRPC.request":"` + strings.Repeat("info ", 100) + `","level":"error","msg":"no such device"}`:           false,
		`{"GRPC.request":"` + strings.Repeat("error ", 100) + `","level":"info","msg":"called"}`:                   true,
		`{"ts":1767347880250.125,"caller":"utils.go:100","msg":"GRPC response","v":0,"response":"target is busy"}`: true,
		`{"ts":1767347880250.125,"caller":"utils.go:100","msg":"GRPC error","err":"target is busy"}`:               false,
		`2025-01-02 03:04:05.1 [INFO] nothing to do`:                                                               true,
		`2025-01-02 03:04:05.1 ERROR device is busy (info below)`:                                                  false,
		`umount: /mnt: target is busy.`:                                                                            false,
		``:                                                                                                         false,
	} {
		if got := Ordinary(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
