package cli

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/terminal"
)

// Ago formats a time relative to now.
func Ago(m inspect.Moment, now time.Time) string {
	return m.Show(func(t time.Time) string { return terminal.Relative(t, now) })
}

// Since formats the time from m until now.
func Since(m inspect.Moment, now time.Time) string {
	return m.Show(func(time.Time) string { return terminal.Duration(m.Since(now)) })
}

// Count formats a number of jobs, with a sign if it is an estimate.
func Count(jobs int64, scale float64) string {
	sign, jobs := inspect.Estimate(jobs, scale)
	return sign + fmt.Sprint(jobs)
}

// At formats a time in UTC and relative to now.
func At(m inspect.Moment, now time.Time) string {
	return m.Show(func(t time.Time) string {
		return t.UTC().Format("2006-01-02 15:04:05 UTC") + " (" + terminal.Relative(t, now) + ")"
	})
}

// Yes formats a value that is shown only if it is true.
func Yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

// IDs formats the ids of jobs, ten at most.
func IDs(ids []int64) string {
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

// Plural returns a number with its noun, such as "1 job" or "2 jobs".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// bareWord matches text that needs no quotes in a shell.
var bareWord = regexp.MustCompile(`^[a-zA-Z0-9_./:@%+=,-]+$`)

// ShellWord quotes text for a POSIX shell if it needs quotes.
func ShellWord(text string) string {
	if bareWord.MatchString(text) {
		return text
	}
	return ShellQuote(text)
}

// ShellQuote quotes text for a POSIX shell.
func ShellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
