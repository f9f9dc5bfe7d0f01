package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

func TestSpans(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"plain <&":                    `<tspan x="14">plain &lt;&amp;</tspan>`,
		"\x1b[1m\x1b[31mBAD\x1b[0m x": `<tspan x="14" class="b" fill="#ff7b72" style="fill:#ff7b72">BAD</tspan><tspan x="38"> x</tspan>`,
		"\x1b[2mold\x1b[0m":           `<tspan x="14" class="d">old</tspan>`,
	} {
		if got := spans(line); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

func TestFold(t *testing.T) {
	t.Parallel()
	got := fold("ab\x1b[36mcdef→g\x1b[0m", 4)
	if want := "ab\x1b[36mcd|\x1b[36mef→g\x1b[0m"; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestPicture asks that the picture of the README is XML without anything that is fetched.
func TestPicture(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/demo.svg")
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(string(raw))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{"<script", "href=", "url("} {
		if strings.Contains(string(raw), bad) {
			t.Errorf("the picture has %s", bad)
		}
	}
	if !strings.Contains(string(raw), "BROKEN") {
		t.Error("the picture shows no report")
	}
}
