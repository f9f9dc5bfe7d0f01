package words

import "testing"

const doc = "# x\n\n## Means\n\nnothing\n\n## Says\n\n### map\n\nThe map {map} lies\nover {disk}.[ Pod {pod} waits on {node}.]\n\nRefuted by: a mount of {map}\n\n### gone\n\nThe disk is gone.\n\n## Source\n\nnone\n"

func TestBranches(t *testing.T) {
	t.Parallel()
	b := Branches(doc)
	if len(b) != 2 || b["gone"].Message != "The disk is gone." || b["map"].Refuted != "a mount of {map}" {
		t.Errorf("branches: %+v", b)
	}
	if Branches("# x\n") != nil {
		t.Error("a document without sentences has branches")
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	m := Branches(doc)["map"].Message
	for name, c := range map[string]struct {
		fields Fields
		want   string
		fails  bool
	}{
		"all":                 {Fields{"map": "mpatha", "disk": "sdc", "pod": "a/b", "node": "n"}, "The map mpatha lies over sdc. Pod a/b waits on n.", false},
		"an empty one":        {Fields{"map": "mpatha", "disk": "sdc", "pod": "", "node": "n"}, "The map mpatha lies over sdc.", false},
		"nobody gave it":      {Fields{"disk": "sdc"}, "", true},
		"braces in the value": {Fields{"map": "{disk}[x]", "disk": "sdc"}, "The map {disk}[x] lies over sdc.", false},
	} {
		got, err := Fill(m, c.fields)
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestNodes(t *testing.T) {
	t.Parallel()
	if one, two := Nodes([]string{"a"}), Nodes([]string{"a", "b"}); one != "node a" || two != "nodes a and b" {
		t.Errorf("%q and %q", one, two)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	for want, names := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}, "a, b, c and 2 more": {"a", "b", "c", "d", "e"}} {
		if got := List(names, 3); got != want {
			t.Errorf("%v: %q, want %q", names, got, want)
		}
	}
}
