package crontab

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// The database parses patterns itself, and only its result counts. They are checked here as well, because the database
// has no line and column numbers and stops at the first error. A table of patterns in tests/cron_patterns.json tests
// that both have the same grammar and messages.

type field struct {
	name      string
	low, high float64
	wraps     bool // high + 1 is another name for low
}

const fieldCount = 5

var patternFields = [fieldCount]field{
	{name: "minutes", low: 0, high: 59},
	{name: "hours", low: 0, high: 23},
	{name: "dates", low: 1, high: 31},
	{name: "months", low: 1, high: 12},
	{name: "days of week", low: 0, high: 6, wraps: true},
}

var (
	numberPart   = regexp.MustCompile(`^[0-9]+$`)
	rangePart    = regexp.MustCompile(`^([0-9]+)-([0-9]+)$`)
	wildcardPart = regexp.MustCompile(`^\*(?:/([0-9]+))?$`)
)

// parsePattern checks the fields, which are linePattern's first groups, and returns them separated by one space.
func (l *line) parsePattern(places []int) string {
	texts := make([]string, fieldCount)
	for i, field := range patternFields {
		start, end := places[2*i+2], places[2*i+3]
		texts[i] = l.text[start:end]
		for part := range strings.SplitSeq(texts[i], ",") {
			if wrong := field.check(part, fmt.Sprintf("%s range in line %d of crontab", field.name,
				l.number)); wrong != "" {
				l.problem(start, "%s", wrong)
			}
			start += len(part) + len(",")
		}
	}
	pattern := strings.Join(texts, " ")
	if len(pattern) > maxPatternLength {
		l.problem(0, "Cron pattern in line %d of crontab is too long (max length: %d).", l.number, maxPatternLength)
	}
	return pattern
}

// check returns the problem of one part of a field, or nothing; where names the field.
func (f field) check(part, where string) string {
	if numberPart.MatchString(part) {
		number := parseNumber(part)
		return f.checkValues(number, number, where)
	}
	if bounds := rangePart.FindStringSubmatch(part); bounds != nil {
		from, to := parseNumber(bounds[1]), parseNumber(bounds[2])
		if to <= from {
			return fmt.Sprintf("Invalid range '%s' in %s: destination is not larger than source", part, where)
		}
		return f.checkValues(from, to, where)
	}
	divisor := wildcardPart.FindStringSubmatch(part)
	if divisor == nil {
		return fmt.Sprintf("Unsupported syntax '%s' in %s: this doesn't appear to be a number, range or wildcard", part,
			where)
	}
	if divisor[1] != "" && parseNumber(divisor[1]) < 1 {
		return fmt.Sprintf("Invalid wildcard expression '%s' in %s: divisor '%s' expected to be greater than zero",
			part, where, divisor[1])
	}
	return ""
}

// checkValues returns the problem of the first invalid value of from and to, or nothing.
func (f field) checkValues(from, to float64, where string) string {
	beyond := f.high + 1
	if f.wraps {
		beyond++
	}
	switch {
	case from < f.low:
		return fmt.Sprintf("Too small value '%s' in %s: expected values in the range %g-%g.", formatNumber(from), where,
			f.low, f.high)
	case to >= beyond:
		return fmt.Sprintf("Too large value '%s' in %s: expected values in the range %g-%g.",
			formatNumber(math.Max(from, beyond)), where, f.low, f.high)
	}
	return ""
}

// parseNumber reads digits as JavaScript does: the number may exceed an integer.
func parseNumber(digits string) float64 {
	number, _ := strconv.ParseFloat(digits, 64) // its only error is that of an infinite number
	return number
}

// formatNumber prints a number as JavaScript does.
func formatNumber(number float64) string {
	if math.IsInf(number, 0) {
		return "Infinity"
	}
	text, _ := json.Marshal(number) // fails for numbers that are not finite
	return string(text)
}
