package iscsi

import (
	"strings"
	"testing"
)

const record = "# BEGIN RECORD 2.1.9\nnode.name = iqn.2019-10.io.longhorn:pvc-1\nnode.session.auth.password = secret\nnode.conn[0].address = 10.42.0.9\n# END RECORD\n"

func TestProblem(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"valid":            {record, ""},
		"empty":            {"", "empty"},
		"only a line end":  {"\n", "empty"},
		"NUL bytes":        {"\x00\x00\x00", "NUL bytes"},
		"NUL as recorded":  {"node.name = a\n\u2400\u2400", "NUL bytes"},
		"truncated":        {strings.TrimSuffix(record, "# END RECORD\n"), "truncated: no end of the record"},
		"cut in a name":    {"# BEGIN RECORD 2.1.9\nnode.name = iqn.a\nnode.sess", "line 3 has no value"},
		"without its name": {"# BEGIN RECORD 2.1.9\nnode.tpgt = 1\n# END RECORD\n", "no node.name"},
		"flat and old":     {"node.name = iqn.a\nnode.tpgt = 1\n", ""},
	} {
		if got := Problem(c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestInitiatorName(t *testing.T) {
	for text, want := range map[string]string{
		"## comment\nInitiatorName=iqn.1993-08.org.debian:01:a\n": "iqn.1993-08.org.debian:01:a",
		"#InitiatorName=iqn.a\n":                                  "",
		"GenerateName=yes\n":                                      "",
		"InitiatorName = iqn.b":                                   "iqn.b",
		"InitiatorName=":                                          "",
		"InitiatorName=Not A Name":                                "Not A Name",
	} {
		if got := InitiatorName(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestValuesHidePasswords(t *testing.T) {
	v := Values(record)
	if v["node.session.auth.password"] != "********" || v["node.conn[0].address"] != "10.42.0.9" {
		t.Errorf("got %v", v)
	}
}

func FuzzProblem(f *testing.F) {
	f.Add(record)
	f.Add("\x00")
	f.Fuzz(func(t *testing.T, text string) {
		if Problem(text) == "" && Values(text)["node.name"] == "" {
			t.Error("a record without a name passed")
		}
	})
}
