package crontab

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// option is an option between the task and the payload, as in ?id=nightly&max=3.
type option struct {
	pattern *regexp.Regexp
	// set stores a value that matches the pattern in the item. It returns false if the database would refuse the value.
	set func(item *Item, value string) bool
}

var optionsByName = map[string]option{
	"id": {regexp.MustCompile(`^[_a-zA-Z][-_a-zA-Z0-9]*$`), func(item *Item, value string) bool {
		item.Identifier = value
		return len(value) <= maxNameLength
	}},
	"fill": {regexp.MustCompile(`^(?:[0-9]+[smhdw])+$`), func(item *Item, value string) (ok bool) {
		item.Fill, ok = parsePeriod(value)
		return ok
	}},
	"max": {regexp.MustCompile(`^[0-9]+$`), func(item *Item, value string) bool {
		attempts, err := strconv.Atoi(value)
		item.MaxAttempts = attempts
		return err == nil && attempts >= 1 && attempts <= maxMaxAttempts
	}},
	"queue": {regexp.MustCompile(`^[-a-zA-Z0-9_:]+$`), func(item *Item, value string) bool {
		item.QueueName = value
		return len(value) <= maxNameLength
	}},
	"jobKey": {regexp.MustCompile(`^` + dot + `*$`), func(item *Item, value string) bool {
		item.JobKey = value
		return value != "" && isText(value, maxJobKeyLength)
	}},
	"jobKeyMode": {regexp.MustCompile(`^(?:replace|preserve_run_at)$`), func(item *Item, value string) bool {
		item.JobKeyMode = JobKeyMode(value)
		return true
	}},
	"priority": {regexp.MustCompile(`^-?[0-9]+$`), func(item *Item, value string) bool {
		priority, err := strconv.ParseInt(value, 10, 16)
		item.Priority = int(priority)
		return err == nil
	}},
	"tz": {regexp.MustCompile(`^[a-zA-Z][-+_/a-zA-Z0-9 ]*$`), func(item *Item, value string) bool {
		// A + was decoded to a space, as in Etc/GMT+1; no name of a time zone contains a space.
		item.TimeZone = strings.ReplaceAll(value, " ", "+")
		return true
	}},
}

// otherSpellings are those of graphile_worker_rs, the port to Rust.
var otherSpellings = map[string]string{"job_key": "jobKey", "job_key_mode": "jobKeyMode"}

// parseOptions reads the options between two offsets, and returns the offset of the identifier, 0 if there is none.
func (l *line) parseOptions(item *Item, start, end int) (identifierAt int) {
	seen := make(map[string]bool)
	for text := range strings.SplitSeq(l.text[start:end], "&") {
		given := splitOption(text, start)
		start += len(text) + len("&")
		if text == "" {
			continue
		}
		if given.name == "tz" || given.name != given.key {
			l.warn(given.at, "Graphile Worker for Node.js does not know the option '%s' and refuses the whole crontab.",
				given.key)
		}
		if given.name == "id" {
			item.Identifier, identifierAt = "", given.valueAt
		}
		if seen[given.name] {
			l.problem(given.at, "Options on line %d of crontab contains invalid value for '%s', did you specify it more than once?",
				l.number, given.key)
		} else {
			l.parseOption(item, given)
		}
		seen[given.name] = true
	}
	if item.JobKey != "" && item.JobKeyMode == "" {
		item.JobKeyMode = Replace
	}
	return identifierAt
}

// parseOption stores the value of an option in the item.
func (l *line) parseOption(item *Item, given givenOption) {
	option, isKnown := optionsByName[given.name]
	if !isKnown {
		l.problem(given.at, "Options on line %d of crontab contains unsupported key '%s'; supported keys are: "+
			"'id', 'fill', 'max', 'queue', 'jobKey', 'jobKeyMode', 'priority'.", l.number, given.key)
		l.problems[len(l.problems)-1].Hint = "'tz' is supported as well"
		return
	}
	if !option.pattern.MatchString(given.value) || !option.set(item, given.value) {
		l.problem(given.valueAt, "Options on line %d of crontab contains invalid value for '%s', "+
			"value '%s' is not compatible with this option.", l.number, given.key, given.value)
	}
}

type givenOption struct {
	key, value  string
	name        string // the key, in our spelling
	at, valueAt int    // offsets in the line
}

func splitOption(text string, at int) givenOption {
	key, value, hasValue := strings.Cut(text, "=")
	given := givenOption{key: unescape(key), value: unescape(value), at: at, valueAt: at + len(key)}
	if hasValue {
		given.valueAt += len("=")
	}
	given.name = cmp.Or(otherSpellings[given.key], given.key)
	return given
}

// unescape decodes a key or a value as JavaScript's module querystring does: a + is a space, and an invalid % escape
// stands for itself. The result may be invalid UTF-8.
func unescape(text string) string {
	text = strings.ReplaceAll(text, "+", " ")
	if !strings.Contains(text, "%") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if code, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(code))
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// periodPart is a part of a period such as 4w3d2h1m.
var periodPart = regexp.MustCompile(`([0-9]+)([smhdw])`)

// parsePeriod returns the duration of a period with one or more parts. It returns false if the period is too long.
func parsePeriod(text string) (time.Duration, bool) {
	units := map[string]time.Duration{
		"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
	}
	var sum time.Duration
	for _, part := range periodPart.FindAllStringSubmatch(text, -1) {
		count, err := strconv.ParseInt(part[1], 10, 64)
		unit := units[part[2]]
		if err != nil || time.Duration(count) > (maxFill-sum)/unit {
			return 0, false
		}
		sum += time.Duration(count) * unit
	}
	return sum, true
}

// The limits of the database. Graphile Worker accepts more in a crontab, and then schedules nothing at all when such an
// item is due.
const (
	maxNameLength    = 128 // of tasks, queues and identifiers
	maxPatternLength = 1000
	maxJobKeyLength  = 512
	maxMaxAttempts   = math.MaxInt16
	minPriority      = math.MinInt16
	maxPriority      = math.MaxInt16
	maxFill          = math.MaxInt32 * time.Second // before PostgreSQL 15, an interval cannot have more seconds
)
