package kept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// secretLines are the ways in which a file tells a password.
var secretLines = []string{
	"password = %s", "passwd=%s", "token: %s", "secret = \"%s\"", "Environment=\"X_API_KEY=%s\"", "Environment=\"HTTPS_PROXY=http://user:%s@proxy:1\"",
	"ExecStart=/usr/bin/x --token %s kubelet iscsi volume", "# %s", "Authorization: Bearer %s", "username=u,password=%s,vers=3 nfs mount volume /dev/sda1",
	"1 2 0:1 / /mnt rw - cifs //s/x rw,username=u,password=%s", "kubelet[1]: volume password %s mount failed", "kernel: nfs: secret=%s device sda",
	"defaults { prio_args \"%s\" config_password \"%s\" }", "//srv/x /mnt cifs credentials=%s 0 0", "options foo key=%s", "{\"password\":\"%s\",\"attrs\":\"%s\"}",
	"node.session.auth.password = %s", "node.session.auth.username = %s", "LDAP_password = %s", "6,1,2,-;device sda token=%s mount",
}

// TestCanariesInFiles plants passwords in every kind of file of the table, and in
// files that it does not name: none is known behind the door.
func TestCanariesInFiles(t *testing.T) {
	t.Parallel()
	n := 0
	names := []string{"etc/shadow", "etc/kubernetes/admin.conf", "proc/77/environ", "root/.ssh/id_rsa", "etc/systemd/system/k3s.service.env", "proc/77/root/etc/shadow", "@kmsg", "@multipathd/show config"}
	for _, l := range table {
		names = append(names, strings.ReplaceAll(strings.ReplaceAll(l.pattern, "**", "a/b"), "*", "77"))
	}
	for _, name := range names {
		if verbatimFile(name) {
			continue
		}
		var text strings.Builder
		for range 2 {
			for _, l := range secretLines {
				n++
				word := fmt.Sprintf("CANARYq%d", n)
				text.WriteString(strings.ReplaceAll(l, "%s", word) + "\n")
			}
		}
		got := string(Entry(host.Item{Name: name, Kind: host.File, Data: []byte(text.String())}))
		for l := range strings.Lines(got) {
			if strings.Contains(l, "CANARYq") {
				t.Errorf("%s still says %s", name, l)
			}
		}
	}
	if n < 150 {
		t.Fatalf("%d canaries, want 150 and more", n)
	}
	t.Logf("%d canaries in %d files", n, len(names))
}

// verbatimFile tells files that the kernel writes and nobody else: numbers, states
// and names of its own.
func verbatimFile(name string) bool {
	for _, p := range []string{"proc/", "sys/", "etc/multipath/77", "etc/hostname", "a/b/layerdb/"} {
		if strings.HasPrefix(name, p) {
			l := find(name)
			return l != nil && l.filter("x=y") == "x=y"
		}
	}
	return false
}

// TestDoor sees a secret nowhere, and the same as a recording made through it.
func TestDoor(t *testing.T) {
	t.Parallel()
	r, err := host.ParseRecording([]byte("-- etc/fstab --\n# CANARY\n//s/x /m cifs user=u%CANARY 0 0\n-- proc/7/cmdline --\nmount.cifs\u2400-o\u2400password=CANARY\n-- @kmsg --\n6,1,2,-;hello CANARY\n6,2,3,-;EXT4-fs (sda): mounted filesystem\n"))
	if err != nil {
		t.Fatal(err)
	}
	d := Door(r)
	fstab, _ := d.ReadFile("etc/fstab", 0)
	tail, _ := host.ReadTail(d, "etc/fstab", 100)
	cmdline, _ := d.ReadFile("proc/7/cmdline", 0)
	log, _ := d.KernelLog()
	for _, b := range [][]byte{fstab, tail, cmdline, log} {
		if strings.Contains(string(b), "CANARY") {
			t.Errorf("the door shows %q", b)
		}
	}
	if !strings.Contains(string(fstab), "//s/x /m cifs") || !strings.Contains(string(log), "EXT4-fs (sda)") || !strings.HasPrefix(string(log), "6,1,2,-;\n") {
		t.Errorf("the door hides too much: %q, %q", fstab, log)
	}
}
