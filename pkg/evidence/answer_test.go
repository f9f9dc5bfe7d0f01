package evidence

import "testing"

func TestCombine(t *testing.T) {
	t.Parallel()
	f := FromNode("n", "proc/1/mountinfo:3", "line")
	lack := Unseen(Lack{Need: "node/n"})
	for name, c := range map[string]struct {
		got  Answer
		want string
	}{
		"all of nothing":        {All(), "yes"},
		"all yes":               {All(Yes(f), Yes()), "yes"},
		"all with unseen":       {All(Yes(f), lack), "unseen"},
		"a no beats unseen":     {All(lack, No(f)), "no"},
		"any of nothing":        {Any(), "no"},
		"any yes beats unseen":  {Any(lack, Yes(f)), "yes"},
		"any unseen is no no":   {Any(No(), lack), "unseen"},
		"not unseen":            {Not(lack), "unseen"},
		"not yes":               {Not(Yes(f)), "no"},
		"zero":                  {Answer{}, "unseen"},
		"nothing, whole":        {Reading{}.Nothing(f), "yes"},
		"nothing, partial":      {Partial(Lack{Need: "x"}).Nothing(f), "unseen"},
		"found though partial":  {Partial(Lack{Need: "x"}).Found(f), "yes"},
		"not found, partial":    {Partial(Lack{Need: "x"}).Found(), "unseen"},
		"not found, whole":      {Reading{}.Found(), "no"},
		"an empty fact is none": {Reading{}.Found(FromNode("n", "", "")), "no"},
	} {
		got := "unseen"
		switch {
		case c.got.Yes():
			got = "yes"
		case c.got.No():
			got = "no"
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if l := All(Yes(), lack).Lacks(); len(l) != 1 || l[0].Need != "node/n" {
		t.Errorf("what was not seen is lost: %v", l)
	}
}
