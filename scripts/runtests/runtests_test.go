package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

const goOutput = `{"Action":"start","Package":"a/good"}
{"Action":"run","Package":"a/good","Test":"TestGood"}
{"Action":"output","Package":"a/good","Test":"TestGood","Output":"    good_test.go:7: quiet\n"}
{"Action":"pass","Package":"a/good","Test":"TestGood","Elapsed":0.1}
{"Action":"output","Package":"a/good","Output":"PASS\n"}
{"Action":"pass","Package":"a/good","Elapsed":0.2}
{"Action":"start","Package":"a/none"}
{"Action":"output","Package":"a/none","Output":"?   \ta/none\t[no test files]\n"}
{"Action":"skip","Package":"a/none","Elapsed":0}
{"Action":"start","Package":"a/bad"}
{"Action":"output","Package":"a/bad","Test":"TestBad","Output":"=== RUN   TestBad\n"}
{"Action":"output","Package":"a/bad","Test":"TestBad/part","Output":"    bad_test.go:7: the answer is 41\n"}
{"Action":"fail","Package":"a/bad","Test":"TestBad/part","Elapsed":0.1}
{"Action":"output","Package":"a/bad","Test":"TestBad","Output":"--- FAIL: TestBad (0.10s)\n"}
{"Action":"fail","Package":"a/bad","Test":"TestBad","Elapsed":0.1}
{"Action":"output","Package":"a/bad","Test":"TestFine","Output":"    bad_test.go:9: fine\n"}
{"Action":"pass","Package":"a/bad","Test":"TestFine","Elapsed":0.1}
{"Action":"skip","Package":"a/bad","Test":"TestLater","Elapsed":0.1}
{"Action":"output","Package":"a/bad","Output":"FAIL\n"}
{"Action":"fail","Package":"a/bad","Elapsed":61.2}
{"ImportPath":"a/broken [a/broken.test]","Action":"build-output","Output":"broken_test.go:3:1: undefined: x\n"}
{"ImportPath":"a/broken [a/broken.test]","Action":"build-fail"}
{"Action":"start","Package":"a/broken"}
{"Action":"output","Package":"a/broken","Output":"FAIL\ta/broken [build failed]\n"}
{"Action":"fail","Package":"a/broken","Elapsed":0,"FailedBuild":"a/broken [a/broken.test]"}
{"Action":"start","Package":"a/stuck"}
{"Action":"output","Package":"a/stuck","Test":"TestStuck","Output":"panic: test timed out after 20m0s\n"}
{"Action":"fail","Package":"a/stuck","Elapsed":1200}
`

func TestOfGoTestsThoseThatFailAreShownAndAllAreCounted(t *testing.T) {
	var shown strings.Builder
	got := readGo(strings.NewReader(goOutput), func(text string) { shown.WriteString(text) })
	if got.packages != 4 || got.tests != 4 || got.skipped != 1 {
		t.Errorf("counted %s", got.counts())
	}
	if len(got.durations) != 4 || got.durations[1] != (duration{"a/bad", 61200 * time.Millisecond}) {
		t.Errorf("durations %v", got.durations)
	}
	if want := []string{"a/bad TestBad/part", "a/broken", "a/stuck"}; !slices.Equal(got.failed, want) {
		t.Errorf("failed: %q, want %q", got.failed, want)
	}
	const want = `== a/bad failed after 61 s
    bad_test.go:7: the answer is 41
--- FAIL: TestBad (0.10s)
FAIL
== a/broken failed after 0 s
FAIL	a/broken [build failed]
broken_test.go:3:1: undefined: x
== a/stuck failed after 1200 s
panic: test timed out after 20m0s
`
	if shown.String() != want {
		t.Errorf("shown:\n%s, want\n%s", &shown, want)
	}
}

const tapOutput = `tests/sql/a/good.sql ......... ok
#   Failed test 2: "two is two"
tests/sql/a/bad.sql .......... 
Failed 1/2 subtests 

Test Summary Report
-------------------
tests/sql/a/bad.sql        (Wstat: 0 Tests: 2 Failed: 1)
  Failed test:  2
Files=2, Tests=7,  1 wallclock secs ( 0.02 usr  0.00 sys +  0.06 cusr  0.01 csys =  0.09 CPU)
Result: FAIL
`

func TestOfPgTAPFilesThoseThatFailAreShownAndAllAreCounted(t *testing.T) {
	var shown strings.Builder
	got := readTAP(strings.NewReader(tapOutput), func(text string) { shown.WriteString(text) })
	if got.files != 2 || got.assertions != 7 || !slices.Equal(got.failed, []string{"tests/sql/a/bad.sql"}) {
		t.Errorf("counted %s, failed %q", got.counts(), got.failed)
	}
	if strings.Contains(shown.String(), "good.sql") || !strings.Contains(shown.String(), `"two is two"`) {
		t.Errorf("shown:\n%s", &shown)
	}
}

func TestAPhaseThatPassesPrintsNothing(t *testing.T) {
	got, shown := runPhase(t, `cat <<'E'
`+strings.Join(strings.SplitAfter(goOutput, "\n")[:6], "")+`E
echo warning >&2`)
	if got.packages != 1 || got.tests != 1 || got.failed != nil || shown != "" {
		t.Errorf("got %+v, %q", got, shown)
	}
}

func TestACommandThatFailsWithoutATestIsAFailure(t *testing.T) {
	got, shown := runPhase(t, "echo no such package >&2; exit 1")
	if !slices.Equal(got.failed, []string{"sh -c echo no such package >&2; exit 1"}) || shown != "no such package\n" {
		t.Errorf("got %+v, %q", got, shown)
	}
}

func TestACommandThatIsMissingIsAFailure(t *testing.T) {
	p := phase{command: []string{"no-such-command"}, read: readGo}
	if got := p.run(t.Context(), os.Environ(), func(string) {}); len(got.failed) != 1 {
		t.Errorf("got %+v", got)
	}
}

func runPhase(t *testing.T, script string) (got tally, shown string) {
	t.Helper()
	p := phase{command: []string{"sh", "-c", script}, read: readGo}
	got = p.run(t.Context(), os.Environ(), func(text string) { shown += text })
	return got, shown
}

func TestAPhaseEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := phase{command: []string{"sh", "-c", "echo started; exec sleep 600"},
		read: func(output io.Reader, _ func(string)) tally {
			_, _ = output.Read(make([]byte, 1))
			cancel()
			_, _ = io.Copy(io.Discard, output)
			return tally{}
		}}
	if got := p.run(ctx, os.Environ(), func(string) {}); len(got.failed) != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestTheLastLineHasAllCounts(t *testing.T) {
	var out strings.Builder
	r := report{out: &out}
	r.add(tally{phase: "pgTAP", files: 3, assertions: 9, took: time.Second, cpu: 400 * time.Millisecond})
	r.add(tally{phase: "go", packages: 2, tests: 5, skipped: 1, took: 61 * time.Second, cpu: 70 * time.Second,
		failed:    []string{"a/bad TestBad"},
		durations: []duration{{"a/good", time.Second}, {"a/bad", time.Minute}}})
	r.add(tally{phase: "bench", packages: 1, tests: 4, took: 2 * time.Second})
	if r.finish(70 * time.Second) {
		t.Error("passed")
	}
	const want = `pgTAP      3 pgTAP files, 9 assertions in 1 s (0 s of CPU): all passed
go         2 packages, 5 tests, 1 left out in 61 s (70 s of CPU): 1 FAILED; longest: a/bad 60 s, a/good 1 s
bench      1 packages, 4 tests in 2 s (0 s of CPU): all passed
FAILED a/bad TestBad
3 packages, 9 tests, 1 left out, 3 pgTAP files, 9 assertions in 70 s: 1 FAILED
`
	if out.String() != want {
		t.Errorf("got\n%s, want\n%s", &out, want)
	}
}

func TestEveryPackageIsInOnePhaseOfOneTarget(t *testing.T) {
	packages := []string{"gw/cmd/gw-run", "gw/docs", "gw/pkg/shim", "gw/tests/go", "gw/tests/go/baddays",
		"gw/tests/go/gwrun"}
	for _, race := range []bool{false, true} {
		var run []string
		for _, s := range []selection{{race: race}, {stress: true}} {
			for _, p := range phases(s, slices.Clone(packages)) {
				for _, arg := range p.command {
					if strings.HasPrefix(arg, "gw/") {
						run = append(run, arg)
					}
				}
			}
		}
		slices.Sort(run)
		if fmt.Sprint(run) != fmt.Sprint(packages) {
			t.Errorf("run are %v, want %v", run, packages)
		}
	}
	packages = []string{"gw/tests/go", "gw/tests/go/gwrun", "gw/internal/health", "gw/tests/go/adopt",
		"gw/tests/go/grants"}
	for short, want := range map[int]string{12: "-p=2 gw/tests/go/adopt", 18: "-p=2 gw/tests/go/grants"} {
		_, run, _ := strings.Cut(strings.Join(phases(selection{short: short}, slices.Clone(packages))[1].command, " "),
			"-short ")
		if run != want {
			t.Errorf("-short=%d runs %s, want %s", short, run, want)
		}
	}
}
