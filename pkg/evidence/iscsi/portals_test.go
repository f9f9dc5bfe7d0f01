package iscsi

import "testing"

func TestSpeaksOfLogin(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"iscsiadm: connect to 10.0.20.10 timed out":                                                                                     true,
		"iscsiadm: initiator reported error (8 - connection timed out)":                                                                 true,
		"iscsiadm: cannot make connection to 10.0.20.10: No route to host":                                                              true,
		"timed out waiting for /dev/disk/by-path/ip-10.0.20.10:3260-iscsi-iqn.2003-10.a:b-lun-1":                                        false,
		"hit timeout waiting for device node to appear: /dev/disk/by-path/ip-10.0.20.10:3260-iscsi-iqn.2003-10.a:b-lun-1":               false,
		"Unable to attach or mount volumes: unmounted volumes=[iscsi], unattached volumes=[iscsi]: timed out waiting for the condition": false,
		"iscsiadm: can not connect to iSCSI daemon (111)!":                                                                              false,
		"iscsiadm: initiator reported error (20 - could not connect to iscsid)":                                                         false,
		"failed to sendtargets to portal 10.148.9.254:3260 output: iscsiadm: can not connect to iSCSI daemon (111)!":                    false,
	} {
		if got := speaksOfLogin(text); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
