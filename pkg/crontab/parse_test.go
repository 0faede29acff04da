package crontab_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/crontab"
)

func TestALineSaysEverythingAboutAnItem(t *testing.T) {
	items, err := crontab.Parse("# first a comment\n\n" +
		"0,30 9-17 */2 1 1-5 mail/send:all ?id=morning&fill=1h30m&max=03&queue=a:b-c_1&priority=-7&jobKey=a%20b+c" +
		"&jobKeyMode=preserve_run_at&tz=Europe/Berlin {account: 42, 'urgent': false, /* no */}\n" +
		"* * * * * tick")
	if err != nil {
		t.Fatal(err)
	}
	want := []crontab.Item{
		{
			Identifier: "morning", Task: "mail/send:all", Pattern: "0,30 9-17 */2 1 1-5", TimeZone: "Europe/Berlin",
			Payload: json.RawMessage(`{"account":42,"urgent":false}`), Fill: 90 * time.Minute,
			MaxAttempts: 3, QueueName: "a:b-c_1", Priority: -7, JobKey: "a b c", JobKeyMode: crontab.PreserveRunAt,
			Line: 3,
		},
		{Identifier: "tick", Task: "tick", Pattern: "* * * * *", Line: 4},
	}
	if !reflect.DeepEqual(items, want) {
		t.Errorf("got\n%+v, want\n%+v", items, want)
	}
}

func TestLinesAreReadHoweverTheyAreSpaced(t *testing.T) {
	for name, text := range map[string]string{
		"blanks":             "  0 8  *\t*   1 \t  task   ?max=3    {}  ",
		"windows":            "# comment\r\n0 8 * * 1 task ?max=3 {}\r\n",
		"byte order mark":    "\uFEFF0 8 * * 1 task ?max=3 {}",
		"of another kind":    "\u00A00\u20038\u3000*\u2028* 1\u1680task\u2003?max=3\u00A0{}\u2029",
		"comments around it": " \t# a\n#\n0 8 * * 1 task ?max=3 {}\n\t\n   #* * * * * no",
		"empty options":      "0 8 * * 1 task ?&max=3&& {}",
	} {
		items, err := crontab.Parse(text)
		if err != nil || len(items) != 1 {
			t.Errorf("%s: got %v and %v, want one item", name, items, err)
			continue
		}
		items[0].Line = 0
		want := crontab.Item{Identifier: "task", Task: "task", Pattern: "0 8 * * 1", MaxAttempts: 3,
			Payload: json.RawMessage("{}")}
		if !reflect.DeepEqual(items[0], want) {
			t.Errorf("%s: got %+v", name, items[0])
		}
	}
}

func TestACrontabMayBeEmpty(t *testing.T) {
	for _, text := range []string{"", "\n", "# nothing\n\n  \r\n", "\uFEFF"} {
		if items, err := crontab.Parse(text); err != nil || len(items) != 0 {
			t.Errorf("%q: got %v and %v", text, items, err)
		}
	}
}

// Each has one problem, with its column. tests/cron_patterns.json has what can be wrong with fields.
func TestEachProblemHasItsPlaceAndGraphileWorkersWords(t *testing.T) {
	const (
		command   = "Invalid command specification in line 1 of crontab."
		supported = "; supported keys are: 'id', 'fill', 'max', 'queue', 'jobKey', 'jobKeyMode', 'priority'."
	)
	noLine := func(text string) string { return "Could not process line '1' of crontab: '" + text + "'" }
	unknown := func(key string) string {
		return "Options on line 1 of crontab contains unsupported key '" + key + "'" + supported
	}
	value := func(key, value string) string {
		return "Options on line 1 of crontab contains invalid value for '" + key + "', value '" + value +
			"' is not compatible with this option."
	}
	twice := func(key string) string {
		return "Options on line 1 of crontab contains invalid value for '" + key +
			"', did you specify it more than once?"
	}
	payload := func(message string) string {
		return "Failed to parse JSON5 payload on line 1 of crontab: JSON5: " + message
	}
	long := strings.Repeat("a", 129)
	for _, c := range []struct {
		text, message string
		column        int
	}{
		{"@daily task", noLine("@daily task"), 1},
		{"CRON_TZ=UTC", noLine("CRON_TZ=UTC"), 1},
		{"  0 0 * * MON task", noLine("0 0 * * MON task"), 11},
		{"0 0 * JAN * task", noLine("0 0 * JAN * task"), 7},
		{"* * * *", noLine("* * * *"), 8},
		{"* * * * *", noLine("* * * * *"), 10},
		{"* * * * *task", noLine("* * * * *task"), 10},
		{"* * * * * task {a: '\u2028'}", noLine("* * * * * task {a: '\u2028'}"), 21},
		{"* * * * * t\xe4sk", "Line 1 of crontab is not valid UTF-8.", 12},

		{"* * * * * * task", command, 11},
		{"* * * * * 1task", command, 11},
		{"* * * * * täsk", command, 12},
		{"* * * * * task.js", command, 15},
		{"* * * * * task more", command, 16},
		{"* * * * * task ?", command, 16},
		{"* * * * * task ? {}", command, 16},
		{"* * * * * task ?max=1 more", command, 23},
		{"* * * * * task {a: 1", command, 16},
		{"* * * * * task {a: 1} # why", command, 23},
		{"* * * * * task [1]", command, 16},
		{"* * * * * " + long, command[:len(command)-1] + ": the task has 129 characters, must have at most 128.", 11},

		{"* * * * * task ?colour=red", unknown("colour"), 17},
		{"* * * * * task ?max=1&Max=2", unknown("Max"), 23},
		{"* * * * * task ?=1", unknown(""), 17},
		{"* * * * * task ?%F6", unknown("\uFFFD"), 17},
		{"* * * * * task ?id", value("id", ""), 19},
		{"* * * * * task ?id=1", value("id", "1"), 20},
		{"* * * * * task ?id=a:b", value("id", "a:b"), 20},
		{"* * * * * task ?id=" + long, value("id", long), 20},
		{"* * * * * task ?fill=1", value("fill", "1"), 22},
		{"* * * * * task ?fill=1y", value("fill", "1y"), 22},
		{"* * * * * task ?fill=h", value("fill", "h"), 22},
		{"* * * * * task ?fill=3551w", value("fill", "3551w"), 22},
		{"* * * * * task ?fill=1s99999999999999999999s", value("fill", "1s99999999999999999999s"), 22},
		{"* * * * * task ?max=-1", value("max", "-1"), 21},
		{"* * * * * task ?max=0", value("max", "0"), 21},
		{"* * * * * task ?max=32768", value("max", "32768"), 21},
		{"* * * * * task ?max=99999999999999999999", value("max", "99999999999999999999"), 21},
		{"* * * * * task ?queue=a/b", value("queue", "a/b"), 23},
		{"* * * * * task ?queue=" + long, value("queue", long), 23},
		{"* * * * * task ?jobKey=", value("jobKey", ""), 24},
		{"* * * * * task ?jobKey=a%0Ab", value("jobKey", "a\nb"), 24},
		{"* * * * * task ?job_key=a%00b", value("job_key", "a\x00b"), 25},
		{"* * * * * task ?jobKey=a%ff", value("jobKey", "a\uFFFD"), 24},
		{"* * * * * task ?jobKey=" + strings.Repeat("%C3%A4", 513), value("jobKey", strings.Repeat("ä", 513)), 24},
		{"* * * * * task ?jobKeyMode=unsafe_dedupe", value("jobKeyMode", "unsafe_dedupe"), 28},
		{"* * * * * task ?job_key_mode=no", value("job_key_mode", "no"), 30},
		{"* * * * * task ?priority=32768", value("priority", "32768"), 26},
		{"* * * * * task ?priority=-32769", value("priority", "-32769"), 26},
		{"* * * * * task ?priority=1.5", value("priority", "1.5"), 26},
		{"* * * * * task ?tz=", value("tz", ""), 20},
		{"* * * * * task ?tz=UTC;drop", value("tz", "UTC;drop"), 20},
		{"* * * * * task ?id=a&max=1&id=b", twice("id"), 28},
		{"* * * * * task ?jobKey=a&job_key=b", twice("job_key"), 26},

		{"* * * * * task {a b}", payload("invalid character 'b' at 1:4"), 19},
		{`* * * * * task {'\0': 1}`, "Failed to parse JSON5 payload on line 1 of crontab: payload is {\"\\u0000\":1}, " +
			"must not contain NUL", 16},
		{" " + strings.Repeat("1,", 500) + "1 * * * * task",
			"Cron pattern in line 1 of crontab is too long (max length: 1000).", 2},
		{"* * * * * täsks ?jobKey=ü", command, 12},
		{"* * * * * task ?jobKey=ü {a: 'ü', b}", payload("invalid character '}' at 1:11"), 36},
	} {
		_, err := crontab.Parse(c.text)
		var wrong *crontab.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%q: got the error %v, want %q", c.text, err, c.message)
			continue
		}
		got := wrong.Problems[0]
		if got.Message != c.message || got.Line != 1 || got.Column != c.column {
			t.Errorf("%q: got\n%s, want\n1:%d: %s", c.text, got, c.column, c.message)
		}
	}
}

func TestAllProblemsAreReportedAndNothingElseIsUsed(t *testing.T) {
	items, err := crontab.Parse(`* * * * * fine
60,x * * * * no_line
61,1-1,5 */0 1-5/2 99 8 task ?foo=1&id=&max=0&foo=2 {x
0 0 * * * task {x}
0 0 * * * fine
0 0 * * * other ?id=fine`)
	var wrong *crontab.Error
	if !errors.As(err, &wrong) || items != nil {
		t.Fatalf("got %v and %v, want an error alone", items, err)
	}
	got := strings.Split(wrong.Error(), "\n")
	want := []string{
		"2:4: Could not process line '2' of crontab: '60,x * * * * no_line'",
		"3:1: Too large value '61' in minutes range in line 3 of crontab: expected values in the range 0-59.",
		"3:4: Invalid range '1-1' in minutes range in line 3 of crontab: destination is not larger than source",
		"3:10: Invalid wildcard expression '*/0' in hours range in line 3 of crontab: divisor '0' expected to be greater than zero",
		"3:14: Unsupported syntax '1-5/2' in dates range in line 3 of crontab: this doesn't appear to be a number, range or wildcard",
		"3:20: Too large value '99' in months range in line 3 of crontab: expected values in the range 1-12.",
		"3:23: Too large value '8' in days of week range in line 3 of crontab: expected values in the range 0-6.",
		"3:53: Invalid command specification in line 3 of crontab. (the payload does not end with })",
		"3:31: Options on line 3 of crontab contains unsupported key 'foo'; supported keys are: " +
			"'id', 'fill', 'max', 'queue', 'jobKey', 'jobKeyMode', 'priority'. ('tz' is supported as well)",
		"3:40: Options on line 3 of crontab contains invalid value for 'id', value '' is not compatible with this option.",
		"3:45: Options on line 3 of crontab contains invalid value for 'max', value '0' is not compatible with this option.",
		"3:47: Options on line 3 of crontab contains invalid value for 'foo', did you specify it more than once?",
		"4:18: Failed to parse JSON5 payload on line 4 of crontab: JSON5: invalid character '}' at 1:3",
		"5:11: Invalid crontab; duplicate identifiers found: 'fine' - please use '?id=...' to specify unique identifiers for your cron items",
		"6:21: Invalid crontab; duplicate identifiers found: 'fine' - please use '?id=...' to specify unique identifiers for your cron items",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestWhatOtherCronsTakeGetsAHint(t *testing.T) {
	for text, want := range map[string]string{
		"@daily task":          "write 0 0 * * * in place of @daily",
		"@Hourly task":         "write 0 * * * * in place of @Hourly",
		"@reboot task":         "write five fields in place of @reboot",
		"CRON_TZ=UTC":          "a crontab has no variables; the time zone of a line is its option ?tz=Europe/Berlin",
		"0 0 * * MON-FRI task": "write days and months as numbers: Sunday is 0, Monday is 1, January is 1",
		"0 0 1 1,jul * task":   "write days and months as numbers: Sunday is 0, Monday is 1, January is 1",
		"0 0 * * x task":       "",
		"* * * * * * task":     "a pattern has five fields, without seconds",
		"* * * * * task # why": "a comment needs a line of its own",

		"* * * * task":            "a line has five fields and a task, such as 0 8 * * * send_digest",
		"task":                    "a line has five fields and a task, such as 0 8 * * * send_digest",
		"* * * * * 1task":         "the name of a task consists of letters, digits, :, /, _ and -, and begins with a letter or _",
		"* * * * * task.js":       "the name of a task consists of letters, digits, :, /, _ and -, and begins with a letter or _",
		"* * * * * task {a: 1":    "the payload does not end with }",
		"* * * * * task more":     "the task may be followed by options, which begin with ?, and by a payload in braces",
		"* * * * * task ?max=1 x": "the task may be followed by options, which begin with ?, and by a payload in braces",
		"* * * * * task ?zone=x":  "'tz' is supported as well",
	} {
		report := crontab.Check(text)
		if len(report.Problems) != 1 || report.Problems[0].Hint != want {
			t.Errorf("%s: %v, want the hint %q", text, report.Problems, want)
		} else if want != "" && !strings.HasSuffix(report.Problems[0].String(), " ("+want+")") {
			t.Errorf("%s does not end in the hint", report.Problems[0])
		}
	}
}

func TestCheckReturnsWhatCanBeReadBesideWhatCannot(t *testing.T) {
	report := crontab.Check("* * * * * a\n60 * * * * b\n* * * * * c ?tz=Asia/Tokyo")
	if len(report.Items) != 2 || report.Items[0].Task != "a" || report.Items[1].Task != "c" ||
		report.Items[1].Line != 3 {
		t.Errorf("got the items %+v, want a and c", report.Items)
	}
	if len(report.Problems) != 1 || report.Problems[0].Line != 2 {
		t.Errorf("got the problems %v, want one in line 2", report.Problems)
	}
}

func TestWhatNodeCouldNotReadGetsAWarning(t *testing.T) {
	report := crontab.Check("* * * * * a ?max=1&job_key=x&job_key_mode=replace&tz=Etc/GMT%2B1\n* * * * * b ?jobKey=x&jobKeyMode=replace")
	got := make([]string, len(report.Warnings))
	for i, warning := range report.Warnings {
		got[i] = warning.String()
	}
	const message = "Graphile Worker for Node.js does not know the option '%' and refuses the whole crontab."
	want := []string{
		"1:20: " + strings.Replace(message, "%", "job_key", 1),
		"1:30: " + strings.Replace(message, "%", "job_key_mode", 1),
		"1:51: " + strings.Replace(message, "%", "tz", 1),
	}
	if !slices.Equal(got, want) || len(report.Problems) != 0 {
		t.Errorf("got the warnings %q and the problems %v", got, report.Problems)
	}
}

func TestOptionsMeanWhatTheySay(t *testing.T) {
	for options, want := range map[string]crontab.Item{
		"fill=0s":                        {},
		"fill=1w2d3h4m5s":                {Fill: (9*24+3)*time.Hour + 4*time.Minute + 5*time.Second},
		"fill=1h2w":                      {Fill: (2*7*24 + 1) * time.Hour},
		"fill=1d1d":                      {Fill: 48 * time.Hour},
		"fill=3550w":                     {Fill: 3550 * 7 * 24 * time.Hour},
		"fill=007s":                      {Fill: 7 * time.Second},
		"max=32767":                      {MaxAttempts: 32767},
		"max=0000000000000000000001":     {MaxAttempts: 1},
		"priority=-32768":                {Priority: -32768},
		"priority=-0":                    {},
		"id=_":                           {Identifier: "_"},
		"%69%64=a-Z":                     {Identifier: "a-Z"},
		"queue=1:a":                      {QueueName: "1:a"},
		"jobKey=100%":                    {JobKey: "100%", JobKeyMode: crontab.Replace},
		"jobKey=100%2":                   {JobKey: "100%2", JobKeyMode: crontab.Replace},
		"jobKey=%c3%A4%zz%25":            {JobKey: "ä%zz%", JobKeyMode: crontab.Replace},
		"jobKey=a=b?c":                   {JobKey: "a=b?c", JobKeyMode: crontab.Replace},
		"job_key=a&job_key_mode=replace": {JobKey: "a", JobKeyMode: crontab.Replace},
		"jobKeyMode=preserve_run_at":     {JobKeyMode: crontab.PreserveRunAt},
		"tz=Etc/GMT+1":                   {TimeZone: "Etc/GMT+1"},
		"tz=Etc/GMT%2B1":                 {TimeZone: "Etc/GMT+1"},
	} {
		items, err := crontab.Parse("* * * * * task ?" + options)
		if err != nil {
			t.Errorf("%s: %v", options, err)
			continue
		}
		want.Task, want.Pattern, want.Line = "task", "* * * * *", 1
		if want.Identifier == "" {
			want.Identifier = "task"
		}
		if !reflect.DeepEqual(items[0], want) {
			t.Errorf("%s: got %+v, want %+v", options, items[0], want)
		}
	}
}

func TestAFileIsReadOrTheErrorNamesIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "crontab")
	if _, err := crontab.Load(path); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("no file: got the error %v", err)
	}
	if err := os.WriteFile(path, []byte("* * * * * a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if items, err := crontab.Load(path); err != nil || len(items) != 1 {
		t.Errorf("got %v and %v, want one item", items, err)
	}
	if err := os.WriteFile(path, []byte("@hourly a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := crontab.Load(path)
	var wrong *crontab.Error
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), path) {
		t.Errorf("got the error %v", err)
	}
}
