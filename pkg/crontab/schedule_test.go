package crontab_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/crontab"
)

func TestSchedulesAreWrittenAsPatterns(t *testing.T) {
	build := func(item crontab.Item, err error) crontab.Item {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
		return item
	}
	for want, item := range map[string]crontab.Item{
		"* * * * *":     build(crontab.EveryMinute("a", nil)),
		"*/1 * * * *":   build(crontab.EveryNMinutes("a", 1, nil)),
		"*/59 * * * *":  build(crontab.EveryNMinutes("a", 59, nil)),
		"0 * * * *":     build(crontab.HourlyAt("a", 0, nil)),
		"59 * * * *":    build(crontab.HourlyAt("a", 59, nil)),
		"30 23 * * *":   build(crontab.DailyAt("a", 23, 30, nil)),
		"5 8 * * 0":     build(crontab.WeeklyOn("a", time.Sunday, 8, 5, nil)),
		"5 8 * * 6":     build(crontab.WeeklyOn("a", time.Saturday, 8, 5, nil)),
		"5 8 31 * *":    build(crontab.MonthlyOn("a", 31, 8, 5, nil)),
		"5 8 29 2 *":    build(crontab.YearlyOn("a", time.February, 29, 8, 5, nil)),
		"59 23 31 12 *": build(crontab.YearlyOn("a", time.December, 31, 23, 59, nil)),
	} {
		if want := (crontab.Item{Identifier: "a", Task: "a", Pattern: want}); !reflect.DeepEqual(item, want) {
			t.Errorf("got %+v, want %+v", item, want)
		}
		if items, err := crontab.Parse(item.Pattern + " a"); err != nil || items[0].Pattern != item.Pattern {
			t.Errorf("%s is refused in a crontab: %v", item.Pattern, err)
		}
	}
}

func TestAnItemThatIsMadeIsTheOneThatIsRead(t *testing.T) {
	type digest struct {
		Title   string `json:"title"`
		Account int    `json:"account"`
	}
	opts := crontab.Options{
		ID: "morning", Fill: 9*24*time.Hour + time.Second, MaxAttempts: 5, Queue: "digests", Priority: -10,
		JobKey:     "a b",
		JobKeyMode: crontab.PreserveRunAt, Payload: digest{"<&>", 42}, TimeZone: "Europe/Berlin",
	}
	made, err := crontab.DailyAt("send_digest", 8, 0, &opts)
	if err != nil {
		t.Fatal(err)
	}
	read, err := crontab.Parse("0 8 * * * send_digest ?id=morning&fill=1w2d1s&max=5&queue=digests&priority=-10&jobKey=a+b" +
		"&jobKeyMode=preserve_run_at&tz=Europe/Berlin {account:42,title:'<&>'}")
	if err != nil {
		t.Fatal(err)
	}
	read[0].Line = 0
	if !reflect.DeepEqual(made, read[0]) {
		t.Errorf("made\n%+v, read\n%+v", made, read[0])
	}

	opts.Payload, opts.PayloadJSON, opts.JobKeyMode = nil, json.RawMessage(`{"title":"<&>", "account":42}`), ""
	made, err = crontab.DailyAt("send_digest", 8, 0, &opts)
	if err != nil || string(made.Payload) != string(read[0].Payload) || made.JobKeyMode != crontab.Replace {
		t.Errorf("got %+v and %v, want the same payload, and replace as the mode", made, err)
	}
}

func TestMistakesInASchedule(t *testing.T) {
	refused := func(want string, item crontab.Item, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) || !reflect.DeepEqual(item, crontab.Item{}) {
			t.Errorf("got %+v and %v, want no item and %q", item, err, want)
		}
	}
	// The arguments of a call have to be its only ones if it returns several values.
	check := func(want string) func(crontab.Item, error) {
		return func(item crontab.Item, err error) { t.Helper(); refused(want, item, err) }
	}
	check("number of minutes is 0, must be between 1 and 59")(crontab.EveryNMinutes("a", 0, nil))
	check("number of minutes is 60")(crontab.EveryNMinutes("a", 60, nil))
	check("minute is -1, must be between 0 and 59")(crontab.HourlyAt("a", -1, nil))
	check("minute is 60")(crontab.HourlyAt("a", 60, nil))
	check("hour is 24, must be between 0 and 23")(crontab.DailyAt("a", 24, 0, nil))
	check("minute is 60")(crontab.DailyAt("a", 23, 60, nil))
	check("weekday is 7, must be between 0 and 6")(crontab.WeeklyOn("a", 7, 0, 0, nil))
	check("hour is -1")(crontab.WeeklyOn("a", time.Monday, -1, 0, nil))
	check("minute is 99")(crontab.WeeklyOn("a", time.Monday, 0, 99, nil))
	check("day is 0, must be between 1 and 31")(crontab.MonthlyOn("a", 0, 0, 0, nil))
	check("day is 32")(crontab.MonthlyOn("a", 32, 0, 0, nil))
	check("hour is 24")(crontab.MonthlyOn("a", 1, 24, 0, nil))
	check("minute is 60")(crontab.MonthlyOn("a", 1, 0, 60, nil))
	check("month is 0, must be between 1 and 12")(crontab.YearlyOn("a", 0, 1, 0, 0, nil))
	check("month is 13")(crontab.YearlyOn("a", 13, 1, 0, 0, nil))
	check("day is 30, must be between 1 and 29")(crontab.YearlyOn("a", time.February, 30, 0, 0, nil))
	check("day is 31, must be between 1 and 30")(crontab.YearlyOn("a", time.June, 31, 0, 0, nil))
	check("hour is 24")(crontab.YearlyOn("a", 1, 1, 24, 0, nil))
	check("minute is 60")(crontab.YearlyOn("a", 1, 1, 0, 60, nil))
	check(`schedule task "a": hour is 24, must be between 0 and 23` + "\n" +
		"minute is 60")(crontab.DailyAt("a", 24, 60, nil))
}

func TestMistakesInOptions(t *testing.T) {
	for name, c := range map[string]struct {
		task string
		opts crontab.Options
		want string
	}{
		"no task":        {"", crontab.Options{}, `task is ""`},
		"long task":      {strings.Repeat("a", 129), crontab.Options{}, "must have 1 to 128 characters"},
		"task with NUL":  {"a\x00", crontab.Options{}, `task is "a\x00"`},
		"task not UTF-8": {"\xff", crontab.Options{}, `task is "\xff"`},
		"id":             {"a", crontab.Options{ID: "1"}, `id is "1"`},
		"long id":        {"a", crontab.Options{ID: strings.Repeat("a", 129)}, "up to 128"},
		"NUL in a list": {"a", crontab.Options{Payload: map[string]any{"a": []any{1, "\x00"}}},
			"must not contain NUL"},
		"more than JSON": {"a", crontab.Options{PayloadJSON: json.RawMessage(`{} {}`)},
			"payload is {} {}, must be a JSON object"},
		"NUL in a name": {"a", crontab.Options{PayloadJSON: json.RawMessage(`{"a\u0000":1}`)},
			"must not contain NUL"},
		"fill below 0": {"a", crontab.Options{Fill: -time.Second}, "fill is -1s"},
		"fill in between": {"a", crontab.Options{Fill: 1500 * time.Millisecond},
			"fill is 1.5s, must be a number of whole seconds"},
		"fill of centuries": {"a", crontab.Options{Fill: math.MaxInt32*time.Second + time.Second},
			"must be a number of whole seconds between 0 and"},
		"attempts below 0": {"a", crontab.Options{MaxAttempts: -1},
			"max attempts is -1, must be between 1 and 32767"},
		"attempts too high": {"a", crontab.Options{MaxAttempts: math.MaxInt16 + 1}, "max attempts is 32768"},
		"long queue": {"a", crontab.Options{Queue: strings.Repeat("ä", 129)},
			"must have at most 128 characters"},
		"priority too low": {"a", crontab.Options{Priority: math.MinInt16 - 1},
			"priority is -32769, must be between -32768 and 32767"},
		"priority too high": {"a", crontab.Options{Priority: math.MaxInt16 + 1}, "priority is 32768"},
		"long key": {"a", crontab.Options{JobKey: strings.Repeat("ä", 513)},
			"must have at most 512 characters"},
		"unsafe mode": {"a", crontab.Options{JobKey: "k", JobKeyMode: "unsafe_dedupe"},
			`job key mode is "unsafe_dedupe", must be replace`},
		"mode alone":        {"a", crontab.Options{JobKeyMode: crontab.Replace}, "there is no job key"},
		"time zone":         {"a", crontab.Options{TimeZone: "New York"}, `time zone is "New York"`},
		"list":              {"a", crontab.Options{Payload: []int{1}}, "payload is [1], must be a JSON object"},
		"null":              {"a", crontab.Options{Payload: (*int)(nil)}, "payload is null, must be a JSON object"},
		"not to be encoded": {"a", crontab.Options{Payload: func() {}}, "encode payload"},
		"JSON list": {"a", crontab.Options{PayloadJSON: json.RawMessage(`[]`)},
			"payload is [], must be a JSON object"},
		"not JSON": {"a", crontab.Options{PayloadJSON: json.RawMessage(`{a:1}`)}, "payload is {a:1}"},
		"JSON not UTF-8": {"a", crontab.Options{PayloadJSON: json.RawMessage("{\"a\":\"\xff\"}")},
			"must be a JSON object"},
		"two payloads": {"a", crontab.Options{Payload: 1, PayloadJSON: json.RawMessage(`{}`)},
			"exclude each other"},
		"several at once":      {"", crontab.Options{Fill: -1, MaxAttempts: -1}, "max attempts is -1"},
		"the first of several": {"", crontab.Options{Fill: -1, MaxAttempts: -1}, `schedule task "": task is ""`},
	} {
		t.Run(name, func(t *testing.T) {
			item, err := crontab.EveryMinute(c.task, &c.opts)
			if err == nil || !strings.Contains(err.Error(), c.want) || item.Task != "" {
				t.Errorf("got %+v and %v, want no item and %q", item, err, c.want)
			}
		})
	}
}

func TestTheLimitsThemselvesAreAllowed(t *testing.T) {
	for _, opts := range []crontab.Options{
		{MaxAttempts: 1, Priority: math.MinInt16},
		{MaxAttempts: math.MaxInt16, Priority: math.MaxInt16},
		{Queue: strings.Repeat("ä", 128), JobKey: strings.Repeat("ä", 512)},
		{ID: "_-9", Fill: time.Second, TimeZone: "Etc/GMT+1", Payload: map[string]any{}},
	} {
		if _, err := crontab.EveryMinute(strings.Repeat("ä", 128), &opts); err != nil {
			t.Errorf("%+v: %v", opts, err)
		}
	}
}
