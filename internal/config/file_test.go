package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/webhook"
)

const signingSecret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"

// parse parses the text of a file dir/gw.yaml. The environment has two variables.
func parse(dir, text string) (*config.File, error) {
	return config.Parse(filepath.Join(dir, "gw.yaml"), text, func(name string) string {
		return map[string]string{"SECRET": "s3$cret ${HOME}", "SIGNING": signingSecret}[name]
	})
}

// folder makes a folder with a program, a file and a folder in it.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"program": 0o755, "file.pem": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAFileSaysHowToWorkAndHowTasksAreServed(t *testing.T) {
	dir := folder(t)
	file, err := parse(dir, `
connection: postgres://u:${SECRET}@h/db # and a comment
jobs: 4
poll_interval: 500ms
grace: 0
quiet: true
tasks_folder: sub
forbidden_flags: [slow, "${SECRET}"]
tasks:
  mail/send: {timeout: 30s, kill_delay: 1s, forbidden_flags: {query: select 1}}
  one:
    exec: [./program, -v, '$${HOME} $1']
    directory: sub
    env: {MODE: fast, N: 1}
    concurrency: 2
    backoff: [1s, 1m]
    forbidden_flags: [slow, "${SECRET}"]
  many:
    persistent: program/../program
    children: 3
  module:
    node: file.pem
    children: 2
    kill_delay: 1m
  post:
    http: https://example.com/{task}?n=1
    headers: {Authorization: "Bearer ${SECRET}"}
    secret: ["${SIGNING}", whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI0]
    permanent_4xx: true
    ca_file: file.pem
    backoff: 5s
  call: {sql: app.tally, batch: 1000}
  calls: {sql: app.tallies, batch: true}
`)
	if err != nil {
		t.Fatal(err)
	}
	var settings []string
	for _, setting := range file.Settings {
		settings = append(settings, setting.Key.Flag+"="+setting.Value)
	}
	wantSettings := []string{
		"connection=postgres://u:s3$cret ${HOME}@h/db", "jobs=4", "poll-interval=500ms", "grace=0s", "quiet=true",
		"tasks=" + filepath.Join(dir, "sub"),
	}
	if !slices.Equal(settings, wantSettings) {
		t.Errorf("settings %q, want %q", settings, wantSettings)
	}
	path := filepath.Join(dir, "gw.yaml")
	if at := file.Settings[1].Position.String(); at != path+":3:7" {
		t.Errorf("jobs is at %s", at)
	}
	if !slices.Equal(file.ForbiddenFlags.List, []string{"slow", "s3$cret ${HOME}"}) || file.ForbiddenFlags.Query != "" {
		t.Errorf("forbidden flags %+v", file.ForbiddenFlags)
	}
	program := filepath.Join(dir, "program")
	want := map[string]config.Task{
		"mail/send": {
			Timeout: 30 * time.Second, Program: config.Program{KillDelay: time.Second},
			ForbiddenFlags: config.ForbiddenFlags{Query: "select 1", Position: config.Position{Path: path, Line: 10,
				Column: 62}},
		},
		"one": {
			Kind: config.Exec, Concurrency: 2, Backoff: []time.Duration{time.Second, time.Minute},
			ForbiddenFlags: config.ForbiddenFlags{
				List: []string{"slow", "s3$cret ${HOME}"}, Position: config.Position{Path: path, Line: 17, Column: 22},
			},
			Program: config.Program{
				Command:   []string{program, "-v", "${HOME} $1"},
				Shown:     program + " -v $${HOME} $1",
				Directory: filepath.Join(dir, "sub"),
				Env:       map[string]string{"MODE": "fast", "N": "1"},
			},
		},
		"many": {
			Kind:    config.Persistent,
			Program: config.Program{Command: []string{program}, Shown: program, Directory: dir, Children: 3},
		},
		"module": {
			Kind: config.Node,
			Program: config.Program{Shown: filepath.Join(dir, "file.pem"), Directory: dir, Children: 2,
				KillDelay: time.Minute},
			Module: config.Module{Path: filepath.Join(dir, "file.pem")},
		},
		"post": {
			Kind: config.HTTP, Backoff: []time.Duration{5 * time.Second},
			HTTP: config.Post{
				URL:     asWritten("https://example.com/{task}?n=1"),
				Headers: map[string]string{"Authorization": "Bearer s3$cret ${HOME}"},
				Secrets: []webhook.Secret{parseSecret(t, signingSecret),
					parseSecret(t, "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI0")},
				Permanent4xx: true,
				CAFile:       filepath.Join(dir, "file.pem"),
			},
		},
		"call":  {Kind: config.SQL, SQL: config.Call{Function: asWritten("app.tally"), Batch: 1000}},
		"calls": {Kind: config.SQL, SQL: config.Call{Function: asWritten("app.tallies"), Batch: 100}},
	}
	for name, task := range file.Tasks {
		if task.Position.Line == 0 || task.Name != name {
			t.Errorf("task %s is called %q, at %s", name, task.Name, task.Position)
		}
		task.Name, task.Position = "", config.Position{}
		if !reflect.DeepEqual(task, want[name]) {
			t.Errorf("task %s is\n%+v, want\n%+v", name, task, want[name])
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("tasks are missing: %v", want)
	}
}

func asWritten(text string) config.Expanded { return config.Expanded{Value: text, Written: text} }

func parseSecret(t *testing.T, text string) webhook.Secret {
	t.Helper()
	secret, err := webhook.ParseSecret(text)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func TestAFileMayBeEmpty(t *testing.T) {
	for _, text := range []string{"", "# nothing yet\n", "---\n", "tasks:\n", "tasks:\n  # none\n"} {
		file, err := parse(t.TempDir(), text)
		if err != nil || len(file.Tasks)+len(file.Settings) > 0 {
			t.Errorf("%q became %+v, error %v", text, file, err)
		}
	}
}

func TestWhatIsSharedIsWrittenOnce(t *testing.T) {
	file, err := parse(folder(t), `
tasks:
  a: &usual {exec: ./program, timeout: 1s, concurrency: 2}
  b:
    <<: *usual
    timeout: 5s
  c: *usual
`)
	if err != nil {
		t.Fatal(err)
	}
	for name, timeout := range map[string]time.Duration{"a": time.Second, "b": 5 * time.Second, "c": time.Second} {
		if task := file.Tasks[name]; task.Kind != config.Exec || task.Timeout != timeout || task.Concurrency != 2 {
			t.Errorf("task %s is %+v", name, task)
		}
	}
}

func TestForbiddenFlagsMayComeFromAQuery(t *testing.T) {
	file, err := parse(t.TempDir(), "forbidden_flags:\n  query: select flag\n    from app.paused\n")
	if err != nil {
		t.Fatal(err)
	}
	if flags := file.ForbiddenFlags; flags.Query != "select flag from app.paused" || flags.List != nil {
		t.Errorf("forbidden flags are %+v", flags)
	}
}

func TestEveryMistakeIsToldWithItsPlaceAndWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"no YAML": {"jobs: [1\n", []string{"1:7: this is not YAML: sequence end token ']' not found"}},
		"no keys": {"- jobs\n", []string{"1:1: a config file takes keys with values, as in name: value"}},
		"two documents": {"jobs: 1\n---\njobs: 2\n",
			[]string{"3:1: a second document begins here; a config file has only one"}},
		"key twice": {"jobs: 1\njobs: 2\n",
			[]string{"2:1: jobs occurs twice, first in line 1; remove one of them"}},
		"key misspelt": {"polinterval: 1s\njob: 1\n",
			[]string{"1:1: there is no key polinterval; is poll_interval meant?",
				"2:1: there is no key job; is jobs meant?"}},
		"key unknown":      {"threads: 1\n", []string{"1:1: there is no key threads; the keys are connection, schema, "}},
		"no value":         {"jobs:\n", []string{"1:1: jobs has no value; set one, or remove the key"}},
		"list for a value": {"jobs: [1]\n", []string{"1:7: jobs takes a single value"}},
		"no number":        {"jobs: many\n", []string{`1:7: jobs takes a whole number, not "many"`}},
		"half a number":    {"jobs: 1.5\n", []string{`1:7: jobs takes a whole number, not "1.5"`}},
		"number too small": {"jobs: 0\n", []string{"1:7: jobs is 0, must be at least 1"}},
		"number negative": {"jobs: -99999999999999999999\n",
			[]string{"1:7: jobs is -99999999999999999999, must be at least 1"}},
		"number too large": {"jobs: 100001\nmax_pool_size: 99999999999999999999\n", []string{
			"1:7: jobs is 100001, must be at most 100000",
			"2:16: max_pool_size is 99999999999999999999, must be at most 100000"}},
		"number of a task": {"tasks:\n  a: {persistent: ./program, concurrency: 100001, children: 9223372036854775808}\n", []string{
			"2:43: concurrency is 100001, must be at most 100000",
			"2:61: children is 9223372036854775808, must be at most 100000"}},
		"time too long": {"poll_interval: 876001h\n",
			[]string{"1:16: poll_interval is 876001h, must be at most 876000h, which is 100 years"}},
		"time far too long": {"grace: 9999999999h30m\n",
			[]string{"1:8: grace is 9999999999h30m, must be at most 876000h, which is 100 years"}},
		"time far too short": {"grace: -9999999999h\n", []string{"1:8: grace is -9999999999h, must be positive"}},
		"time of a task": {"tasks:\n  a: {timeout: 1000000h, kill_delay: 999999999999s, backoff: [1s, 9223372036854775808ns]}\n", []string{
			"2:16: timeout is 1000000h", "2:38: kill_delay is 999999999999s",
			"2:67: backoff is 9223372036854775808ns"}},
		"time with words": {"grace: 99999999999h soon\n", []string{"1:8: grace takes a time with a unit"}},
		"time without unit": {"poll_interval: 2000\n",
			[]string{`1:16: poll_interval takes a time with a unit, such as 500ms, 30s, 5m or 4h, not "2000"`}},
		"no time":            {"grace: -1s\n", []string{"1:8: grace is -1s, must be positive"}},
		"neither yes nor no": {"quiet: yes\n", []string{`1:8: quiet takes true or false, not "yes"`}},
		"empty text":         {"schema: ''\n", []string{"1:9: schema is empty; set a value, or remove the key"}},
		"variable not set": {"connection: ${NOWHERE}\n",
			[]string{"1:13: connection: the environment variable NOWHERE is not set; write $${ for a literal ${"}},
		"no variable": {"connection: a${b-c}\n",
			[]string{`1:13: connection: "${b-c}" is not a reference ${NAME} to an environment variable; write $${ for a literal ${`}},
		"key of flags": {"forbidden_flags: {querry: select 1}\n",
			[]string{"1:19: there is no key querry in forbidden_flags; is query meant?"}},
		"no flags": {"forbidden_flags: []\n", []string{"1:18: forbidden_flags is an empty list"}},
		"flags of a task": {"tasks:\n  a: {forbidden_flags: {querry: select 1}}\n",
			[]string{"2:25: there is no key querry in forbidden_flags; is query meant?"}},
		"no flags of a task": {"tasks:\n  a: {forbidden_flags: [a, '']}\n",
			[]string{"2:28: forbidden_flags is empty; set a value, or remove the key"}},
		"no tasks":     {"tasks: [a]\n", []string{"1:8: tasks takes keys with values, as in name: value"}},
		"unnamed task": {"tasks: {'': {timeout: 1s}}\n", []string{"1:9: a task has an empty name"}},
		"no task":      {"tasks:\n  a: 5\n", []string{"2:6: task a takes keys with values, as in name: value"}},
		"two kinds": {"tasks:\n  a:\n    exec: ./program\n    sql: f\n",
			[]string{"4:5: the task already has exec; it can have only one of exec, persistent, node, http, sql"}},
		"key of other kinds": {"tasks:\n  a: {exec: ./program, secret: x, children: 2}\n",
			[]string{"2:24: secret is a key of tasks with http; this one has exec",
				"2:35: children is a key of tasks with persistent or node; this one has exec"}},
		"key of a kind": {"tasks:\n  a: {env: {}}\n",
			[]string{"2:7: env is a key of tasks with exec or persistent or node; this one has a file in the folder of tasks"}},
		"key in a task": {"tasks:\n  a: {tiemout: 1s}\n",
			[]string{"2:7: there is no key tiemout in a task; is timeout meant?"}},
		"in a list": {"tasks:\n  a: {backoff: [1s, soon]}\n",
			[]string{`2:21: backoff takes a time with a unit, such as 500ms, 30s, 5m or 4h, not "soon"`}},
		"empty list": {"tasks:\n  a: {exec: []}\n", []string{"2:13: exec is an empty list"}},
		"no such program": {"tasks:\n  a: {exec: ./missing}\n",
			[]string{"2:13: exec: there is no file DIR/missing"}},
		"no such command": {"tasks:\n  a: {exec: no-such-command}\n",
			[]string{"2:13: exec: no program no-such-command in $PATH; a program beside this file is ./no-such-command"}},
		"arguments in one": {"tasks:\n  a: {exec: ./program -v}\n",
			[]string{"2:13: exec: there is no file DIR/program -v; arguments are given in a list, such as [./program, argument]"}},
		"not executable": {"tasks:\n  a: {persistent: ./file.pem}\n",
			[]string{"2:19: persistent: DIR/file.pem is not executable, see chmod +x"}},
		"no such folder": {"tasks:\n  a: {exec: ./program, directory: program}\n",
			[]string{"2:35: directory: there is no folder DIR/program"}},
		"no such file": {"tasks:\n  a: {http: http://h, ca_file: sub}\n",
			[]string{"2:32: ca_file: there is no file DIR/sub"}},
		"no such module": {"tasks:\n  a: {node: missing.js}\n",
			[]string{"2:13: node: there is no file DIR/missing.js"}},
		"no URL": {"tasks:\n  a: {http: example.com/x}\n",
			[]string{"2:13: http takes a URL that begins with http:// or https:// and a host"}},
		"no secret": {"tasks:\n  a: {http: http://h, secret: top}\n",
			[]string{"2:31: secret must be whsec_ followed by 24 to 64 random bytes in base64; make one with: echo whsec_$(openssl rand -base64 32)"}},
		"one secret of two": {"tasks:\n  a: {http: http://h, secret: [\"${SIGNING}\", \"${SECRET}\"]}\n",
			[]string{"2:46: secret must be whsec_"}},
		"statement": {"tasks:\n  a: {sql: select 1}\n",
			[]string{"2:12: sql takes the name of a function or procedure, such as app.refresh_totals, not a statement"}},
		"call": {"tasks:\n  a: {sql: 'app.f()'}\n", []string{"2:12: sql takes the name of a function"}},
		"batch too large": {"tasks:\n  a: {sql: f, batch: 1001}\n",
			[]string{"2:22: batch is 1001, must be at most 1000"}},
		"no batch": {"tasks:\n  a: {sql: f, batch: false}\n",
			[]string{`2:22: batch takes a whole number, not "false"`}},
		"no anchor":     {"jobs: *many\n", []string{"1:7: there is no anchor &many"}},
		"merges itself": {"tasks:\n  a: &a {<<: *a}\n", []string{"this mapping merges itself"}},
		"several": {"jobs: 0\ntasks:\n  a: {sql: '', batch: 0}\nquiet: no\n", []string{
			"1:7: jobs is 0, must be at least 1", "3:12: sql is empty; set a value, or remove the key",
			"3:23: batch is 0, must be at least 1", `4:8: quiet takes true or false, not "no"`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			_, err := parse(dir, c.text)
			var problems config.Problems
			if !errors.As(err, &problems) || len(problems) != len(c.want) {
				t.Fatalf("got the error\n%v, want %d problems:\n%s", err, len(c.want), strings.Join(c.want, "\n"))
			}
			for i, problem := range problems {
				want := strings.ReplaceAll(c.want[i], "DIR", dir)
				if got := strings.TrimPrefix(problem.Error(), filepath.Join(dir, "gw.yaml")+":"); !strings.Contains(got,
					want) {
					t.Errorf("got\n%s, want\n%s", got, want)
				}
			}
		})
	}
}

func TestNoMistakeShowsTheValueOfAVariable(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"jobs: ${SECRET}\n", `jobs takes a whole number, not "${SECRET}"`},
		{"jobs: ${NUMBER}\n", "jobs is ${NUMBER}, must be at least 1"},
		{"tasks:\n  a: {sql: f, batch: '${LARGE}'}\n", "batch is ${LARGE}, must be at most 1000"},
		{"quiet: ${SECRET}\n", `quiet takes true or false, not "${SECRET}"`},
		{"grace: ${SECRET}\n", `not "${SECRET}"`},
		{"poll_interval: ${NUMBER}s\n", "poll_interval is ${NUMBER}s, must be positive"},
		{"tasks:\n  a: {exec: '${SECRET}'}\n",
			"no program ${SECRET} in $PATH; a program beside this file is ./${SECRET}"},
		{"tasks:\n  a: {exec: './${SECRET}'}\n", "there is no file ./${SECRET}; arguments"},
		{"tasks:\n  a: {exec: './${LARGE}'}\n", "there is no file ./${LARGE}"},
		{"tasks:\n  a: {exec: './${FILE}'}\n", "./${FILE} is not executable"},
		{"tasks:\n  a: {exec: ./program, directory: '${SECRET}'}\n", "there is no folder ${SECRET}"},
		{"tasks:\n  a: {http: http://h, ca_file: '${SECRET}'}\n", "there is no file ${SECRET}"},
		{"tasks:\n  a: {http: '${SECRET}'}\n", "http takes a URL"},
		{"tasks:\n  a: {http: http://h, secret: '${SECRET}'}\n", "secret must be whsec_"},
	} {
		env := map[string]string{"SECRET": "s3cret token", "NUMBER": "-4711", "LARGE": "1815", "FILE": "file.pem"}
		_, err := config.Parse(filepath.Join(folder(t), "gw.yaml"), c.text,
			func(name string) string { return env[name] })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got the error\n%v, want\n%s", err, c.want)
			continue
		}
		for _, value := range env {
			if _, message, _ := strings.Cut(err.Error(), ": "); strings.Contains(message, value) {
				t.Errorf("the error shows %q: %v", value, err)
			}
		}
	}
}

func TestAFileThatCannotBeReadIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gw.yaml")
	if _, err := config.Load(path, os.Getenv); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("got the error %v", err)
	}
	if err := os.WriteFile(path, []byte("jobs: 2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := config.Load(path, os.Getenv)
	if err != nil || len(file.Settings) != 1 {
		t.Errorf("got %+v, error %v", file, err)
	}
}

func TestAByteOrderMarkIsSkipped(t *testing.T) {
	file, err := parse(folder(t), "\uFEFFjobs: 4\n")
	if err != nil || len(file.Settings) != 1 || file.Settings[0].Value != "4" {
		t.Errorf("the file is %+v, error %v", file, err)
	}
}

func TestAConfigFileOfGraphileWorkerIsCalledThat(t *testing.T) {
	const want = "a config file of Graphile Worker for Node.js is not read; write a gw.yaml, whose keys are connection, schema, "
	for _, name := range []string{"graphile.config.js", "graphile.config.mts", "graphile.config.cjs"} {
		dir := t.TempDir()
		if path, message := config.PresetIn(dir); path+message != "" {
			t.Errorf("in an empty folder: %s %s", path, message)
		}
		preset := filepath.Join(dir, name)
		if err := os.WriteFile(preset, []byte("module.exports = { worker: { concurrentJobs: 4 } };"),
			0o600); err != nil {
			t.Fatal(err)
		}
		if path, message := config.PresetIn(dir); path != preset || !strings.HasPrefix(message, want) {
			t.Errorf("in its folder: %s %s", path, message)
		}
		if _, err := config.Load(preset, os.Getenv); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("as the config file: %v", err)
		}
	}
}
