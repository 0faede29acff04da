package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// event is a line of go test -json; see go doc test2json.
type event struct {
	Action, Package, Test, Output string
	ImportPath, FailedBuild       string // the import path of a package that did not compile
	Elapsed                       float64
}

// readGo reads the output of go test -json. It prints the output of packages that fail, without the output of tests that passed.
func readGo(output io.Reader, print func(text string)) (t tally) {
	running := make(map[string]*goPackage)
	builds := make(map[string]*strings.Builder) // the compiler's output by import path
	lines := bufio.NewReader(output)
	for {
		line, err := lines.ReadString('\n')
		var e event
		if json.Unmarshal([]byte(line), &e) != nil {
			if strings.TrimSpace(line) != "" {
				print(line) // output of the go command itself
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
	failed bool            // whether one of its tests failed
}

// take handles an event and reports whether it is the last one of the package.
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
			if e.Action != "skip" { // skip means that the package has no tests
				t.packages++
				t.durations = append(t.durations, duration{e.Package, time.Duration(e.Elapsed * float64(time.Second))})
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
				t.failed = append(t.failed, name) // otherwise its subtest is listed
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

// failure returns the output of a package that failed.
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

var (
	tapPassed  = regexp.MustCompile(`^\S+ \.+ ok\s*$`)
	tapFailed  = regexp.MustCompile(`^(\S+\.sql) +\(Wstat: `)
	tapSummary = regexp.MustCompile(`^Files=(\d+), Tests=(\d+),`)
)

// readTAP reads the output of pg_prove. If a file fails, it prints the output without the files that passed.
func readTAP(output io.Reader, print func(text string)) (t tally) {
	var said strings.Builder
	for lines := bufio.NewScanner(output); lines.Scan(); {
		line := lines.Text()
		if m := tapSummary.FindStringSubmatch(line); m != nil {
			t.files, _ = strconv.Atoi(m[1])
			t.assertions, _ = strconv.Atoi(m[2])
		}
		if m := tapFailed.FindStringSubmatch(line); m != nil {
			t.failed = append(t.failed, m[1])
		}
		if !tapPassed.MatchString(line) {
			said.WriteString(line + "\n")
		}
	}
	if len(t.failed) > 0 || t.files == 0 {
		print("== pgTAP\n" + said.String())
	}
	return t
}
