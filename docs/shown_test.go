package docs_test

import (
	"regexp"
	"strings"
)

var (
	id   = regexp.MustCompile(`(?m)^ *\d+ |\bJob \d+\b`)
	date = regexp.MustCompile(`[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d UTC`)
	rate = regexp.MustCompile(`\d+\.\d a second`)
)

// settled returns an output with the same ids and times each time.
func settled(output string) string {
	output = date.ReplaceAllString(output, "TIME")
	output = rate.ReplaceAllString(output, "RATE")
	return timeless(id.ReplaceAllString(output, "ID "))
}

// like returns what matches an output that is shown: in a line, ... stands for any text, and as a line for any lines.
func like(shown string) *regexp.Regexp {
	var b strings.Builder
	for line := range strings.Lines(settled(shown)) {
		if strings.TrimSpace(line) == "..." {
			b.WriteString(`(?:.*\n)*`)
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), regexp.QuoteMeta("..."), ".*"))
	}
	return regexp.MustCompile("^" + b.String() + "$")
}
