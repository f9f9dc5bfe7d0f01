package modules

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLicences(t *testing.T) {
	t.Parallel()
	const bsd = "Redistributions in binary form must reproduce the above copyright\n * notice"
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"nothing known":             {"All rights reserved.", nil},
		"wrapped and commented":     {"// Permission is hereby granted, free of charge,\n// to any person obtaining a copy", []string{"MIT"}},
		"two clauses":               {bsd, []string{"BSD-2-Clause"}},
		"three clauses":             {bsd + "\nNeither the name of Google", []string{"BSD-3-Clause"}},
		"code that was taken over":  {"Apache License\n   Version 2.0, January 2004\n" + bsd + " Neither the name", []string{"Apache-2.0", "BSD-3-Clause"}},
		"notice instead of licence": {`Licensed under the Apache License, Version 2.0 (the "License")`, []string{"Apache-2.0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, Licences(tt.text)); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLinkedAgent: the agent is the standard library and golang.org/x/sys, nothing else.
func TestLinkedAgent(t *testing.T) {
	t.Parallel()
	list, err := Linked("linux/amd64", "github.com/mountdoctor/kubectl-mountdoctor/cmd/mountdoctor-agent")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if m.Path != "golang.org/x/sys" || !strings.HasPrefix(m.Version, "v") || m.Expression() != "BSD-3-Clause" {
			t.Errorf("%s %s %s is linked into the agent", m.Path, m.Version, m.Expression())
		}
	}
}
