// Words writes the words that the source of rules and probes uses: those that a
// redacted capture may say. Whatever a rule can look for stands in it, and no name
// of anybody's cluster.
//
//	go run ./scripts/words          rewrite the list
//	go run ./scripts/words -check   fail when it would change
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go/scanner"
)

const list = "pkg/snapshot/words.txt"

// sources are the folders whose words count: all but the command line, whose examples
// name things that nobody looks for, and the importer, which looks for files of others.
var (
	sources = []string{"pkg"}
	without = []string{"pkg/plugin/", "pkg/snapshot/bundle/"}
)

func main() {
	check := flag.Bool("check", false, "compare instead of writing")
	flag.Parse()
	if err := run(".", *check); err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	words := map[string]bool{}
	for _, dir := range sources {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || excluded(path) {
				return err
			}
			return collect(path, words)
		})
		if err != nil {
			return err
		}
	}
	out := []byte(strings.Join(slices.Sorted(maps.Keys(words)), "\n") + "\n")
	path := filepath.Join(root, list)
	if !check {
		return os.WriteFile(path, out, 0o644)
	}
	got, err := os.ReadFile(path)
	if err == nil && !bytes.Equal(got, out) {
		err = fmt.Errorf("%s is not what the rules say: run make words", list)
	}
	return err
}

// excluded tells whether a file lies in a folder whose words do not count.
func excluded(path string) bool {
	return slices.ContainsFunc(without, func(dir string) bool { return strings.Contains(filepath.ToSlash(path), dir) })
}

var word = regexp.MustCompile(`[A-Za-z]{2,}`)

// part is a piece of a name in camel case.
var part = regexp.MustCompile(`[A-Z]+(?:[a-z]+|$)|[a-z]+|[A-Z]+`)

// collect takes the words of all literals and comments of one file.
func collect(path string, into map[string]bool) error {
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if _, err := parser.ParseFile(token.NewFileSet(), path, src, parser.PackageClauseOnly); err != nil {
		return err
	}
	var s scanner.Scanner
	set := token.NewFileSet()
	s.Init(set.AddFile(path, -1, len(src)), src, nil, scanner.ScanComments)
	for {
		_, tok, lit := s.Scan()
		switch tok {
		case token.EOF:
			return nil
		case token.STRING, token.COMMENT, token.IDENT:
			for _, w := range word.FindAllString(strings.ReplaceAll(lit, `\n`, " "), -1) {
				into[strings.ToLower(w)] = true
				for _, p := range part.FindAllString(w, -1) {
					into[strings.ToLower(p)] = true
				}
			}
		}
	}
}
