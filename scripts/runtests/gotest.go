package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// event is a line of go test -json; see go doc test2json.
type event struct {
	Action, Package, Test, Output string
	ImportPath, FailedBuild       string // of what did not compile
	Elapsed                       float64
}

// readGo reads the output of go test -json. Of a package that fails it prints all but what tests said that have passed.
func readGo(output io.Reader, print func(text string)) (t tally) {
	running := make(map[string]*goPackage)
	builds := make(map[string]*strings.Builder) // what the compiler says, by import path
	lines := bufio.NewReader(output)
	for {
		line, err := lines.ReadString('\n')
		var e event
		if json.Unmarshal([]byte(line), &e) != nil {
			if strings.TrimSpace(line) != "" {
				print(line) // the go command itself
			}
		} else if e.Package == "" {
			if builds[e.ImportPath] == nil {
				builds[e.ImportPath] = &strings.Builder{}
			}
			builds[e.ImportPath].WriteString(e.Output)
		} else {
			p := running[e.Package]
			if p == nil {
				p = &goPackage{passed: make(map[string]bool)}
				running[e.Package] = p
			}
			if p.take(e, &t) {
				delete(running, e.Package)
				if e.Action == "fail" {
					if build := builds[e.FailedBuild]; build != nil {
						p.said = append(p.said, event{Output: build.String()})
					}
					print(p.failure(e))
				}
			}
		}
		if err != nil {
			return t
		}
	}
}

// goPackage is a package under test.
type goPackage struct {
	said   []event
	passed map[string]bool // tests
	failed bool            // one of its tests
}

// take takes an event in, and reports whether it is the last one.
func (p *goPackage) take(e event, t *tally) (last bool) {
	switch e.Action {
	case "output":
		if !strings.HasPrefix(e.Output, "=== ") {
			p.said = append(p.said, e)
		}
	case "pass", "skip", "fail":
		if e.Test == "" {
			if e.Action == "fail" && !p.failed {
				t.failed = append(t.failed, e.Package)
			}
			if e.Action != "skip" { // there are no tests in it
				t.packages++
			}
			return true
		}
		top := !strings.Contains(e.Test, "/")
		if top {
			t.tests++
		}
		switch {
		case e.Action == "fail":
			p.failed = true
			name := e.Package + " " + e.Test
			if !slices.ContainsFunc(t.failed, func(failed string) bool { return strings.HasPrefix(failed, name+"/") }) {
				t.failed = append(t.failed, name) // else its part says it
			}
		case e.Action == "skip":
			t.skipped++
			fallthrough
		default:
			p.passed[e.Test] = true
		}
	}
	return false
}

// failure returns what a package said that has failed.
func (p *goPackage) failure(e event) string {
	var text strings.Builder
	fmt.Fprintf(&text, "== %s failed after %s\n", e.Package, seconds(time.Duration(e.Elapsed*float64(time.Second))))
	for _, s := range p.said {
		if !p.passed[s.Test] {
			text.WriteString(s.Output)
		}
	}
	return text.String()
}
