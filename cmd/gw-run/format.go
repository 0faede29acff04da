package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/terminal"
)

// ago formats a time relative to now.
func ago(m inspect.Moment, now time.Time) string {
	if m.IsNull() || m.Text != "" {
		return m.Text
	}
	return terminal.Relative(m.Time, now)
}

// since formats the time from m until now.
func since(m inspect.Moment, now time.Time) string {
	if m.IsNull() || m.Text != "" {
		return m.Text
	}
	return terminal.Duration(m.Since(now))
}

// count formats a number of jobs, with a sign if it is an estimate.
func count(jobs int64, scale float64) string {
	sign, jobs := inspect.Estimate(jobs, scale)
	return sign + fmt.Sprint(jobs)
}

// at formats a time in UTC and relative to now.
func at(m inspect.Moment, now time.Time) string {
	if m.IsNull() || m.Text != "" {
		return m.Text
	}
	return m.UTC().Format("2006-01-02 15:04:05 UTC") + " (" + terminal.Relative(m.Time, now) + ")"
}

// yes formats a value that is shown only if it is true.
func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

// idsOf formats the ids of jobs, ten at most.
func idsOf(ids []int64) string {
	const most = 10
	texts := make([]string, min(len(ids), most))
	for i := range texts {
		texts[i] = fmt.Sprint(ids[i])
	}
	text := strings.Join(texts, ", ")
	if len(ids) > most {
		text += fmt.Sprintf(" and %d more", len(ids)-most)
	}
	return text
}

// plural returns a number with its noun, such as "1 job" or "2 jobs".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// bareWord matches text that needs no quotes in a shell.
var bareWord = regexp.MustCompile(`^[a-zA-Z0-9_./:@%+=,-]+$`)

// quoteForShell quotes text for a POSIX shell if it needs quotes.
func quoteForShell(text string) string {
	if bareWord.MatchString(text) {
		return text
	}
	return shellQuote(text)
}

// shellQuote quotes text for a POSIX shell.
func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
