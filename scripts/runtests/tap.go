package main

import (
	"bufio"
	"io"
	"regexp"
	"strconv"
	"strings"
)

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
