package nfs

import "testing"

func TestLocal(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]bool{
		"127.0.0.1": true, "127.0.0.7": true, "::1": true, "localhost": true,
		"10.0.0.1": false, "fs-0a1b.efs.eu-west-1.amazonaws.com": false, "": false, "127.0.0.1.example": false,
	} {
		if got := Local(addr); got != want {
			t.Errorf("Local(%q) = %v", addr, got)
		}
	}
}
