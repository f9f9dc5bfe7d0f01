package snapshot

import (
	"strings"
	"testing"
)

// What a handle names besides the volume is found again in texts and recordings.
func TestHandlesStayJoinable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, handle, part, elsewhere string }{
		{"address before a share", "192.168.86.3/archive_west", "192.168.86.3", "CIFS: Attempting to mount //192.168.86.3/x"},
		{"server before a share", "nas.acme-corp.lan/archive#sub#pv", "nas.acme-corp.lan", "dial tcp nas.acme-corp.lan:445: i/o timeout"},
		{"server before a hash", "nas.acme-corp.lan#archive_west", "nas.acme-corp.lan", "mount //nas.acme-corp.lan/archive_west"},
		{"target in the handle", "iqn.2005-10.org.acme.ctl:archive19", "iqn.2005-10.org.acme.ctl:archive19", "Logging in to [iface: default, target: iqn.2005-10.org.acme.ctl:archive19, portal: 10.1.1.1,3260]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newVocabulary([]byte("key"))
			w.opaque("vol", c.handle)
			for k := range w.inside {
				w.sorted = append(w.sorted, k)
			}
			w.first = map[byte][]string{c.handle[0]: w.sorted}
			part, elsewhere := w.text(c.part), w.text(c.elsewhere)
			if part == c.part {
				t.Fatalf("%s is said", part)
			}
			if handle := w.whole(c.handle); !strings.Contains(handle, part) || handle != w.text(c.handle) {
				t.Errorf("the handle became %s, in a text %s; its part %s", handle, w.text(c.handle), part)
			}
			if !strings.Contains(elsewhere, part) {
				t.Errorf("%q does not name %s", elsewhere, part)
			}
		})
	}
}
