package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// tally is the counts of a phase.
type tally struct {
	phase      string
	took       time.Duration
	cpu        time.Duration // of compilers, tests and the programs that they start, but not of the server
	packages   int
	tests      int // Go tests, subtests not included
	skipped    int
	files      int // pgTAP files
	assertions int
	failed     []string // names of failed tests
	durations  []duration
}

// duration is how long the tests of a package took.
type duration struct {
	name string
	took time.Duration
}

// longest returns the packages that took longest, as text.
func (t tally) longest() string {
	slices.SortStableFunc(t.durations, func(a, b duration) int { return cmp.Compare(b.took, a.took) })
	var parts []string
	for _, d := range t.durations[:min(len(t.durations), 3)] {
		parts = append(parts, d.name+" "+seconds(d.took))
	}
	return strings.Join(parts, ", ")
}

// counts returns the counts as text.
func (t tally) counts() string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{t.packages, "packages"}, {t.tests, "tests"}, {t.skipped, "left out"}, {t.files, "pgTAP files"},
		{t.assertions, "assertions"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	return strings.Join(parts, ", ")
}

// outcome returns how many tests failed, as text.
func (t tally) outcome() string {
	if len(t.failed) == 0 {
		return "all passed"
	}
	return fmt.Sprintf("%d FAILED", len(t.failed))
}

// report prints the results of concurrent phases.
type report struct {
	mu  sync.Mutex
	out io.Writer
	all tally
}

func (r *report) print(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprint(r.out, text)
}

// add prints the line of a phase.
func (r *report) add(t tally) {
	text := fmt.Sprintf("%-10s %s in %s (%s of CPU): %s", t.phase, t.counts(), seconds(t.took), seconds(t.cpu),
		t.outcome())
	if longest := t.longest(); longest != "" {
		text += "; longest: " + longest
	}
	r.print(text + "\n")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all.packages += t.packages
	r.all.tests += t.tests
	r.all.skipped += t.skipped
	r.all.files += t.files
	r.all.assertions += t.assertions
	r.all.failed = append(r.all.failed, t.failed...)
}

// finish prints the failed tests and the line of counts, and reports whether all tests passed.
func (r *report) finish(took time.Duration) (passed bool) {
	for _, name := range r.all.failed {
		r.print("FAILED " + name + "\n")
	}
	r.print(fmt.Sprintf("%s in %s: %s\n", r.all.counts(), seconds(took), r.all.outcome()))
	return len(r.all.failed) == 0
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }
