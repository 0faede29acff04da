package adversary

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// rule is a rule that must hold during the whole trial.
type rule string

const (
	errorsAreOurs     rule = "an error has one of the codes that it may have"
	callsEnd          rule = "a call ends, and so does the session only by our doing"
	secretsAreKept    rule = "nobody reads what the role may not"
	nothingIsTouched  rule = "nobody changes what the role may not"
	honestJobsStart   rule = "an honest job starts within a second of being due"
	honestJobsRunOnce rule = "an honest job runs once"
	workersStay       rule = "no worker ends"
	idleIsQuiet       rule = "an idle worker asks what its settings explain"
	backlogIsWorked   rule = "what can be run is run"
	memoryIsBounded   rule = "gw-run needs less than 150 MB"
	operatorsCan      rule = "doctor and the operator's commands end"
)

// violation is a rule that was broken.
type violation struct {
	rule   rule
	detail string
	at     time.Time
}

// journal is the recent calls, so that a violation can be reported with the calls that led to it.
type journal struct {
	mu      sync.Mutex
	began   time.Time
	notes   []*note
	answers map[string]int
}

type note struct {
	journal        *journal
	kind, sql      string
	started, ended time.Time
	answer         string
}

const (
	kept  = 400
	shown = 60
)

func (j *journal) begin(kind, sql string) *note {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := &note{journal: j, kind: kind, sql: sql, started: time.Now()}
	if j.notes = append(j.notes, n); len(j.notes) > 2*kept {
		j.notes = slices.Clone(j.notes[kept:])
	}
	return n
}

func (n *note) end(answer string) {
	n.journal.mu.Lock()
	defer n.journal.mu.Unlock()
	n.ended, n.answer = time.Now(), answer
	n.journal.answers[n.kind+" "+answer]++
}

// tail lists the calls before a time, in a form in which they can be repeated.
func (j *journal) tail(until time.Time) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	before := slices.DeleteFunc(slices.Clone(j.notes), func(n *note) bool { return n.started.After(until) })
	var b strings.Builder
	for _, n := range before[max(0, len(before)-shown):] {
		answer, lasted := "no answer yet", until.Sub(n.started)
		if !n.ended.IsZero() {
			answer, lasted = n.answer, n.ended.Sub(n.started)
		}
		fmt.Fprintf(&b, "%8.3fs %-9s %s  -- %s after %s\n", n.started.Sub(j.began).Seconds(), n.kind, n.sql, answer,
			lasted.Round(time.Millisecond))
	}
	return b.String()
}

// summary counts the answers.
func (j *journal) summary() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var b strings.Builder
	for _, answer := range slices.Sorted(maps.Keys(j.answers)) {
		fmt.Fprintf(&b, "%7d %s\n", j.answers[answer], answer)
	}
	return b.String()
}

// shorten returns the beginning and the end of a long text.
func shorten(text string) string {
	const most = 600
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most/2]+" ... "+text[len(text)-most/2:], "?")
}
