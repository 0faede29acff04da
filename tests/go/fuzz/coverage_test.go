package fuzz

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// shape is a property of a request that must occur in every run of the usual length, in accepted or in refused calls.
type shape struct {
	what  string
	taken bool
	is    func(r request) bool
}

const (
	taken   = true
	refused = false
)

// coverage counts the requests of each shape.
type coverage struct {
	shapes []shape
	counts []int
}

func newCoverage() *coverage {
	all := []shape{
		{"null spec", refused, func(r request) bool { return r.isNull }},
		{"run_at null", taken, func(r request) bool { return !r.runAt.Valid }},
		{"flags null", taken, func(r request) bool { return r.flags == nil }},
		{"flags empty", taken, func(r request) bool { return r.flags != nil && len(r.flags) == 0 }},
		{"flags with a null", refused, func(r request) bool {
			return contains(r.flags,
				func(t text) bool { return !t.Valid })
		}},
		{"flags with two alike", taken, func(r request) bool { return hasTwins(r.flags) }},
		{"flags of two dimensions", taken, func(r request) bool { return r.nestedFlags && len(r.flags) > 0 }},
	}
	for _, at := range runAts {
		all = append(all, shape{"run_at " + at, taken, func(r request) bool { return r.runAt == textOf(at) }})
	}
	all = append(all, payloadShapes()...)
	all = append(all, textShapes("identifier", 128, func(r request) []text { return []text{r.identifier} })...)
	all = append(all, textShapes("queue_name", 128, func(r request) []text { return []text{r.queueName} })...)
	all = append(all, textShapes("job_key", 512, func(r request) []text { return []text{r.jobKey} })...)
	all = append(all, textShapes("flag", 1000, func(r request) []text { return r.flags })...)
	all = append(all, nullability()...)
	all = append(all, numberShapes("max_attempts", []int32{1, 32767},
		func(r request) number { return r.maxAttempts })...)
	all = append(all, numberShapes("priority", []int32{-32768, 0, 32767},
		func(r request) number { return r.priority })...)
	return &coverage{shapes: all, counts: make([]int, len(all))}
}

// nullability returns the shapes of texts that are null or empty.
func nullability() []shape {
	return []shape{
		{"identifier null", refused, func(r request) bool { return !r.isNull && !r.identifier.Valid }},
		{"identifier empty", taken, func(r request) bool { return r.identifier == textOf("") }},
		{"queue_name null", taken, func(r request) bool { return !r.queueName.Valid }},
		{"queue_name empty", taken, func(r request) bool { return r.queueName == textOf("") }},
		{"job_key null", taken, func(r request) bool { return !r.jobKey.Valid }},
		{"job_key empty", refused, func(r request) bool { return r.jobKey == textOf("") }},
		{"flag empty", taken, func(r request) bool {
			return contains(r.flags,
				func(t text) bool { return t == textOf("") })
		}},
	}
}

// textShapes returns the shapes of a text, or of one of several texts, with this maximum length in characters. Flags only have a
// limit for all of them together.
func textShapes(field string, limit int, of func(request) []text) []shape {
	has := func(is func(s string) bool) func(request) bool {
		return func(r request) bool { return contains(of(r), func(t text) bool { return t.Valid && is(t.V) }) }
	}
	var all []shape
	for _, odd := range oddTexts {
		all = append(all, shape{fmt.Sprintf("%s %+q", field, odd), taken, has(func(s string) bool { return s == odd })})
	}
	for _, char := range longChars {
		longest := strings.Repeat(char, limit)
		all = append(all, shape{fmt.Sprintf("%s of %d times %q", field, limit, char), taken,
			has(func(s string) bool { return s == longest })})
	}
	return append(all,
		shape{field + " a little longer", field == "flag",
			has(func(s string) bool { return utf8.RuneCountInString(s) == limit+1 })},
		shape{field + " much longer", refused, has(func(s string) bool { return utf8.RuneCountInString(s) > 2*limit })},
		shape{field + " not in UTF-8", refused, has(func(s string) bool { return !utf8.ValidString(s) })},
	)
}

// numberShapes returns the shapes of a number that may be at these limits but not outside of smallint.
func numberShapes(field string, limits []int32, of func(request) number) []shape {
	equals := func(n int32) func(request) bool {
		return func(r request) bool { return of(r) == number{V: n, Valid: true} }
	}
	all := []shape{{field + " null", taken, func(r request) bool { return !r.isNull && !of(r).Valid }}}
	for _, n := range limits {
		all = append(all, shape{fmt.Sprint(field, " ", n), taken, equals(n)})
	}
	for _, n := range faultyNumbers {
		if n != 0 && n != -1 || field == "max_attempts" {
			all = append(all, shape{fmt.Sprint(field, " ", n), refused, equals(n)})
		}
	}
	return all
}

func payloadShapes() []shape {
	all := []shape{
		{"payload null", taken, func(r request) bool { return !r.isNull && !r.payload.Valid }},
		{"payload empty", refused, func(r request) bool { return r.payload == textOf("") }},
		{"payload deep", taken, func(r request) bool { return nesting(r.payload.V) >= deep }},
		{"payload too deep", refused, func(r request) bool { return nesting(r.payload.V) > tooDeep }},
		{"payload not in UTF-8", refused, func(r request) bool { return !utf8.ValidString(r.payload.V) }},
		{"payload with a NUL", refused, func(r request) bool { return strings.Contains(r.payload.V, "\x00") }},
		{"payload a number", taken, func(r request) bool { return startsWith(r.payload.V, "-0123456789") }},
	}
	for _, start := range []string{"n", "t", "f", `"`, "[", "{"} {
		all = append(all, shape{"payload starts with " +
			start, taken, func(r request) bool { return startsWith(r.payload.V, start) }})
	}
	for _, parts := range [][]string{{"[]", "{}"}, jsonNumbers, jsonChars, jsonbRefused} {
		for _, part := range parts {
			all = append(all, shape{fmt.Sprintf("payload with %+q", part), taken,
				func(r request) bool { return strings.Contains(r.payload.V, part) }})
		}
	}
	return all
}

func startsWith(json, chars string) bool {
	start := strings.TrimLeft(json, " \t\r\n")
	return start != "" && strings.Contains(chars, start[:1])
}

func contains(texts []text, is func(text) bool) bool {
	for _, t := range texts {
		if is(t) {
			return true
		}
	}
	return false
}

func hasTwins(texts []text) bool {
	seen := map[text]bool{}
	return contains(texts, func(t text) bool {
		isTwin := seen[t]
		seen[t] = true
		return isTwin
	})
}

// count counts the shapes of a request in a call that was accepted or refused.
func (c *coverage) count(r request, wasTaken bool) {
	for i, s := range c.shapes {
		if s.taken == wasTaken && s.is(r) {
			c.counts[i]++
		}
	}
}

// check reports the shapes that no request had.
func (c *coverage) check(t *testing.T) {
	t.Helper()
	least := 0
	for i, s := range c.shapes {
		if c.counts[i] == 0 {
			t.Errorf("no request had this shape: %s, accepted %v", s.what, s.taken)
		}
		if c.counts[i] < c.counts[least] {
			least = i
		}
	}
	t.Logf("%d shapes of requests, each at least %d times (%s)", len(c.shapes), c.counts[least], c.shapes[least].what)
}
