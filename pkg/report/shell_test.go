package report

import (
	"strings"
	"testing"
)

func TestShell(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line []string
		want string // empty: it does not show, so nothing is printed
	}{
		{[]string{"kubectl", "-n", "shop", "get", "pod", "db-0"}, "kubectl -n shop get pod db-0"},
		{[]string{"kubectl", "get", "pod", "--all"}, ""},
		{[]string{"kubectl", "get", "pod", "-rf"}, ""},
		{[]string{"ls", "=ls", "^x", "a b"}, "ls '=ls' '^x' 'a b'"},
		{[]string{"kubectl", "auth", "--as=system:serviceaccount:a:$(id)"}, "kubectl auth '--as=system:serviceaccount:a:$(id)'"},
		{[]string{"umount", "-l", Operand("-l")}, ""},
		{[]string{"umount", "-l", Operand("/a-l")}, "umount -l /a-l"},
		{[]string{"x", "a\nb"}, ""},
		{[]string{"vgchange", "-ay", ""}, ""},
		{[]string{"kubectl", "-n", "", "get", "pods"}, ""},
	} {
		got := Shell(tt.line...)
		if Hidden(got) {
			got = ""
		}
		if got != tt.want {
			t.Errorf("%q gives %q, want %q", tt.line, got, tt.want)
		}
		if in := Inline(tt.line...); (in == tt.want) == (tt.want == "") || strings.Contains(in, "\x00") {
			t.Errorf("%q in a sentence is %q", tt.line, in)
		}
	}
}
