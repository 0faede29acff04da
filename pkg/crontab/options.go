package crontab

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Options are the optional attributes of an item.
type Options struct {
	// ID is the name under which the database stores the last run of the item: a letter or _, then letters, digits, _
	// or -. Default: the task. Set it if several items have the same task, and do not change it later: past runs are
	// stored under the old name.
	ID string

	// Fill is how far back missed runs are backfilled, in whole seconds, up to 68 years. Default: not at all. Set it to
	// a little more than the longest time without workers that you expect.
	Fill time.Duration

	// MaxAttempts is the number of attempts after which a failing job has failed permanently, 1 to 32767. Default: 25.
	MaxAttempts int

	// Queue is the named queue of the jobs; jobs of one named queue run one after the other. Up to 128 characters.
	// Default: none.
	Queue string

	// Priority orders the jobs that are due: lower ones run first, -32768 to 32767. Default: 0.
	Priority int

	// JobKey is the key under which at most one of the jobs is waiting. Up to 512 characters. Default: none.
	JobKey string

	// JobKeyMode decides what happens if a job is waiting under JobKey. Default: [Replace].
	JobKeyMode JobKeyMode

	// Payload is any value that [encoding/json] encodes as an object. Default: {}. The member _cron is added to it.
	Payload any

	// PayloadJSON is the object itself, in place of Payload.
	PayloadJSON json.RawMessage

	// TimeZone is the name of the schedule's time zone in the database, such as Europe/Berlin. Default: UTC.
	TimeZone string
}

// completed returns item with the options applied, or an error with all problems.
func (o Options) completed(item Item) (Item, error) {
	var problems []error
	refuse := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	if item.Task == "" || !isText(item.Task, maxNameLength) {
		refuse("task is %q, must have 1 to %d characters", item.Task, maxNameLength)
	}
	if o.ID != "" && !(optionsByName["id"].pattern.MatchString(o.ID) && isText(o.ID, maxNameLength)) {
		refuse("id is %q, must begin with a letter or _ followed by letters, digits, _ and -, up to %d characters",
			o.ID, maxNameLength)
	}
	if o.Fill < 0 || o.Fill > maxFill || o.Fill%time.Second != 0 {
		refuse("fill is %s, must be a number of whole seconds between 0 and %s", o.Fill, maxFill)
	}
	if o.MaxAttempts < 0 || o.MaxAttempts > maxMaxAttempts {
		refuse("max attempts is %d, must be between 1 and %d", o.MaxAttempts, maxMaxAttempts)
	}
	if !isText(o.Queue, maxNameLength) {
		refuse("queue is %q, must have at most %d characters", o.Queue, maxNameLength)
	}
	if o.Priority < minPriority || o.Priority > maxPriority {
		refuse("priority is %d, must be between %d and %d", o.Priority, minPriority, maxPriority)
	}
	if !isText(o.JobKey, maxJobKeyLength) {
		refuse("job key is %q, must have at most %d characters", o.JobKey, maxJobKeyLength)
	}
	if o.JobKeyMode != "" && o.JobKeyMode != Replace && o.JobKeyMode != PreserveRunAt {
		refuse("job key mode is %q, must be %s or %s", o.JobKeyMode, Replace, PreserveRunAt)
	}
	if o.JobKeyMode != "" && o.JobKey == "" {
		refuse("job key mode is %q, but there is no job key", o.JobKeyMode)
	}
	if o.TimeZone != "" && !timeZonePattern.MatchString(o.TimeZone) {
		refuse("time zone is %q, must be a name such as Europe/Berlin", o.TimeZone)
	}
	payload, err := o.payload()
	problems = append(problems, err)

	item.Identifier, item.TimeZone, item.Payload, item.Fill = cmp.Or(o.ID, item.Task), o.TimeZone, payload, o.Fill
	item.MaxAttempts, item.QueueName, item.Priority = o.MaxAttempts, o.Queue, o.Priority
	item.JobKey, item.JobKeyMode = o.JobKey, o.JobKeyMode
	if item.JobKey != "" && item.JobKeyMode == "" {
		item.JobKeyMode = Replace
	}
	return item, errors.Join(problems...)
}

// payload returns the JSON of the payload, nil for none.
func (o Options) payload() (json.RawMessage, error) {
	if o.Payload != nil && o.PayloadJSON != nil {
		return nil, errors.New("payload and payload JSON exclude each other")
	}
	text := o.PayloadJSON
	if o.Payload != nil {
		var err error
		if text, err = encode(o.Payload); err != nil {
			return nil, fmt.Errorf("encode payload: %w", err)
		}
	}
	if text == nil {
		return nil, nil
	}
	return checkPayload(text)
}

// checkPayload returns a payload with all members sorted by name, or an error if the database could not read it.
func checkPayload(text json.RawMessage) (json.RawMessage, error) {
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil || object == nil || !json.Valid(text) || !utf8.Valid(text) {
		return nil, fmt.Errorf("payload is %s, must be a JSON object", text)
	}
	if hasNUL(object) {
		return nil, fmt.Errorf("payload is %s, must not contain NUL", text)
	}
	return encode(object)
}

// hasNUL reports whether a string or a name within a JSON value contains NUL, which PostgreSQL cannot read.
func hasNUL(value any) bool {
	switch value := value.(type) {
	case string:
		return strings.Contains(value, "\x00")
	case []any:
		return slices.ContainsFunc(value, hasNUL)
	case map[string]any:
		for name, member := range value {
			if hasNUL(name) || hasNUL(member) {
				return true
			}
		}
	}
	return false
}

// isText reports whether the database can store text as a name of up to max characters.
func isText(text string, max int) bool {
	return utf8.ValidString(text) && !strings.Contains(text, "\x00") && utf8.RuneCountInString(text) <= max
}

// timeZonePattern matches names of time zones. Only the database knows which exist.
var timeZonePattern = regexp.MustCompile(`^[a-zA-Z][-+_/a-zA-Z0-9]*$`)
