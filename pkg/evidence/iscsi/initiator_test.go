package iscsi

import (
	"strings"
	"testing"
)

// TestNamed takes what follows the word for a target's name, whosever volume that serves.
func TestNamed(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`msg="node registered" initiator iqn.2019-10.net.example:device.2b76`:                                                                                   "iqn.2019-10.net.example:device.2b76",
		`host iqn: "iqn.1994-05.com.redhat:1a2b" added to igroup`:                                                                                               "iqn.1994-05.com.redhat:1a2b",
		`iscsiadm: could not log in to [iface: default, target: iqn.2003-01.org.example:disk9, portal: 10.0.0.1,3260]. iscsiadm: initiator reported error (24)`: "",
		`initiator iqn.1994-05.com.redhat:1a2b may not see target iqn.2003-01.org.example:disk9`:                                                                "iqn.1994-05.com.redhat:1a2b",
		`target iqn.2003-01.org.example:disk9 refuses initiator iqn.1994-05.com.redhat:1a2b`:                                                                    "iqn.1994-05.com.redhat:1a2b",
		`targetIQN=iqn.2003-01.org.example:disk9 lun=1 logging in`:                                                                                              "",
		`discovered targets: [iqn.2003-01.org.example:disk8 iqn.2003-01.org.example:disk9] for the initiator`:                                                   "",
	} {
		if got, _ := named(line); strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
