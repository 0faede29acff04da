package worker

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/config"
)

func TestPollIntervalsAreMillisecondsOrTimes(t *testing.T) {
	for text, want := range map[string]string{"2000": "2s", "1": "1ms", "1.5s": "1.5s", "2m": "2m0s"} {
		var interval pollInterval
		if err := interval.Set(text); err != nil || interval.String() != want {
			t.Errorf("%q became %s, error %v, want %s", text, interval.String(), err, want)
		}
	}
}

func TestTheEnvironmentSetsWhatNoFlagSets(t *testing.T) {
	for name, c := range map[string]struct {
		env   map[string]string
		args  []string
		quiet bool
		level string
	}{
		"nothing":            {level: "INFO"},
		"NO_LOG_SUCCESS":     {env: map[string]string{"NO_LOG_SUCCESS": "1"}, quiet: true, level: "INFO"},
		"flag over it":       {env: map[string]string{"NO_LOG_SUCCESS": "1"}, args: []string{"--quiet=false"}, level: "INFO"},
		"GRAPHILE_..._DEBUG": {env: map[string]string{"GRAPHILE_LOGGER_DEBUG": "1"}, level: "DEBUG"},
		"level over it": {
			env: map[string]string{"GRAPHILE_LOGGER_DEBUG": "1"}, args: []string{"--log-level", "error"}, level: "ERROR",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := NewOptions()
			getenv := func(name string) string { return c.env[name] }
			flags := newFlags(o, getenv)
			if err := flags.Parse(append(c.args, "-c", "postgres:///unused")); err != nil {
				t.Fatal(err)
			}
			if err := o.Complete(flags, getenv); err != nil {
				t.Fatal(err)
			}
			if o.worker.Quiet != c.quiet || o.level.String() != c.level {
				t.Errorf("quiet %v, level %s, want %v, %s", o.worker.Quiet, o.level, c.quiet, c.level)
			}
		})
	}
}

// configured completes options from flags, an environment and the text of a config file.
func configured(t *testing.T, text string, env map[string]string, args ...string) (*Options, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gw.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := NewOptions()
	getenv := func(name string) string { return env[name] }
	flags := newFlags(o, getenv)
	if err := flags.Parse(append(args, "--config", path)); err != nil {
		t.Fatal(err)
	}
	return o, o.Complete(flags, getenv)
}

func TestAFlagGoesBeforeTheEnvironmentAndThatBeforeTheConfigFile(t *testing.T) {
	const text = "connection: from_file\nschema: file\njobs: 3\nquiet: false\nlog_level: warn\npoll_interval: 5s\n"
	env := map[string]string{
		"DATABASE_URL": "from_env", "GRAPHILE_WORKER_SCHEMA": "env", "NO_LOG_SUCCESS": "1", "GRAPHILE_LOGGER_DEBUG": "1",
	}
	for name, c := range map[string]struct {
		env                       map[string]string
		args                      []string
		connection, schema, level string
		jobs                      int
		poll                      time.Duration
		quiet                     bool
	}{
		"file":        {nil, nil, "dbname='from_file'", "file", "WARN", 3, 5 * time.Second, false},
		"environment": {env, nil, "dbname='from_env'", "env", "DEBUG", 3, 5 * time.Second, true},
		"flags": {
			env, []string{"-c", "from_flag", "-s", "flag", "-j", "7", "--quiet=false", "--log-level", "error", "--poll-interval", "1s"},
			"dbname='from_flag'", "flag", "ERROR", 7, time.Second, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := configured(t, text, c.env, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			if o.Database.Connection != c.connection || o.Database.Schema != c.schema || o.level.String() != c.level ||
				o.worker.Jobs != c.jobs || o.worker.PollInterval != c.poll || o.worker.Quiet != c.quiet {
				t.Errorf("options are %+v, want %+v", o, c)
			}
		})
	}
}

func TestPathsOfTheConfigFileBeginBesideIt(t *testing.T) {
	o, err := configured(t, "tasks_folder: work\n", map[string]string{"DATABASE_URL": "app"})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(o.configPath)
	if o.worker.Tasks.Path != filepath.Join(dir, "work") || o.worker.Crontab.Path != filepath.Join(dir, "crontab") {
		t.Errorf("the folder of tasks is %s, the crontab %s", o.worker.Tasks.Path, o.worker.Crontab.Path)
	}
}

func TestTheConsoleBesideAWorkerHasANameAndLinks(t *testing.T) {
	const text = "ui: 127.0.0.1:9465\nui_name: eu\nui_color: red\nui_links:\n  us: https://us.example.com\n  asia: https://asia.example.com\n"
	for want, args := range map[string][]string{
		"eu: us=https://us.example.com asia=https://asia.example.com": nil,
		"europe: us=http://us": {"--ui-name", "europe", "--ui-link", "us=http://us"},
	} {
		o, err := configured(t, text, map[string]string{"DATABASE_URL": "app"}, args...)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.worker.UI.Color.String(); got != "red" {
			t.Errorf("the color of the console is %q", got)
		}
		if got := o.worker.UI.Name + ": " + o.worker.UI.Links.String(); got != want {
			t.Errorf("the console has %s, want %s", got, want)
		}
	}
}

func TestSettingsThatCannotBeAreToldWhereTheyComeFrom(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		args []string
		code int
		want string
	}{
		"in the file":     {"max_pool_size: 1\nlog_format: xml\n", nil, cli.ExitFailure, "gw.yaml:1:16: max_pool_size is 1, must be at least 2\nFILE/gw.yaml:2:13: log_format is \"xml\""},
		"in a flag":       {"max_pool_size: 5\n", []string{"-m", "1"}, cli.ExitUsage, "--max-pool-size is 1, must be at least 2"},
		"connection":      {"connection: http://x\n", nil, cli.ExitFailure, "FILE/gw.yaml:1:13: read connection from connection: it is a URL, but not one that begins with postgres://"},
		"between the two": {"no_listen: true\n", []string{"--listen-url", "app"}, cli.ExitFailure, "gw.yaml:1:12: no_listen and --listen-url exclude each other"},
		"watch once":      {"", []string{"-w", "--once"}, cli.ExitUsage, "--watch and --once exclude each other"},
		"link":            {"ui_links:\n  us: https://us\n  eu: queue\n", nil, cli.ExitFailure, "gw.yaml:3:7: ui_links must have a URL that begins with http:// or https:// for eu"},
		"color":           {"ui_color: pink\n", nil, cli.ExitFailure, "gw.yaml:1:11: ui_color must be one of red, orange"},
		"no links":        {"ui_links: https://us\n", nil, cli.ExitFailure, "gw.yaml:1:11: ui_links takes keys with values"},
		"mistake":         {"jbos: 1\n", nil, cli.ExitFailure, "gw.yaml:1:1: there is no key jbos; is jobs meant?"},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := configured(t, c.text, map[string]string{"DATABASE_URL": "app"}, c.args...)
			want := strings.ReplaceAll(c.want, "FILE", filepath.Dir(o.configPath))
			if name == "connection" { // the environment has one, which takes precedence
				o, err = configured(t, c.text, nil, c.args...)
				want = strings.ReplaceAll(c.want, "FILE", filepath.Dir(o.configPath))
			}
			if err == nil || cli.ExitCode(err) != c.code || !strings.Contains(err.Error(), want) {
				t.Errorf("exit code %d, error\n%v, want %d and\n%s", cli.ExitCode(err), err, c.code, want)
			}
		})
	}
}

func TestAConfigFileIsMissedOnlyIfItWasAskedFor(t *testing.T) {
	dir := t.TempDir()
	o := NewOptions()
	o.worker.Tasks.Path = filepath.Join(dir, "tasks")
	if file, err := o.findConfig(os.Getenv).Read(); err != nil || file.Path != filepath.Join(dir, "gw.yaml") {
		t.Errorf("got %+v, error %v", file, err)
	}
	flags := newFlags(o, os.Getenv)
	o.configPath = filepath.Join(dir, "gw.yaml")
	err := o.Complete(flags, os.Getenv)
	if want := "read config: open " + o.configPath; err == nil || cli.ExitCode(err) != cli.ExitFailure || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q and the exit code %d", err, want, cli.ExitFailure)
	}
}

// Every flag of the worker, except those about the invocation itself, has a key in the config file.
func TestEveryFlagHasItsSetting(t *testing.T) {
	settings := map[string]bool{"config": true, "watch": true, "once": true, "schema-only": true, "cleanup": true}
	for _, key := range config.Settings() {
		if settings[key.Flag] {
			t.Errorf("--%s occurs twice", key.Flag)
		}
		settings[key.Flag] = true
	}
	newFlags(NewOptions(), os.Getenv).VisitAll(func(flag *pflag.Flag) {
		if !settings[flag.Name] {
			t.Errorf("no key of the config file mirrors --%s", flag.Name)
		}
		delete(settings, flag.Name)
	})
	for name := range settings {
		t.Errorf("there is no flag --%s", name)
	}
}

func TestTheManualHasTheFlagsOfAWorkerAndNoOther(t *testing.T) {
	manual, err := os.ReadFile("../../../../docs/quick-start.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(manual), "| flag | default | meaning |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var documented []string
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		for _, match := range regexp.MustCompile("`--([a-z-]+)`").FindAllStringSubmatch(cells[1], -1) {
			documented = append(documented, match[1])
		}
	}
	flags := newFlags(NewOptions(), func(string) string { return "" })
	flags.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(documented, flag.Name) {
			t.Errorf("docs/quick-start.md lacks --%s", flag.Name)
		}
	})
	for _, name := range documented {
		if flags.Lookup(name) == nil {
			t.Errorf("docs/quick-start.md has --%s, which does not exist", name)
		}
	}
}
