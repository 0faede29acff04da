package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
)

// command runs gw-run inside this process.
func command(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), args, func(name string) string { return env[name] }, &out, &err)
	return code, out.String(), err.String()
}

func TestTheVersionIsAFlagToo(t *testing.T) {
	_, want, _ := command(t, nil, "version")
	if code, got, _ := command(t, nil, "--version"); code != cli.ExitOK || got != want || want == "" {
		t.Errorf("exit code %d, %q, want %q", code, got, want)
	}
}

func TestMistakesInTheCommandLineAreExplained(t *testing.T) {
	database := map[string]string{"DATABASE_URL": "postgres:///unused"}
	for name, c := range map[string]struct {
		args []string
		env  map[string]string
		want string
	}{
		"unknown flag":           {[]string{"--job", "2"}, database, "unknown flag: --job; is --jobs meant?"},
		"flag of others":         {[]string{"--concurrency", "2"}, database, "unknown flag: --concurrency; is --jobs meant?"},
		"port alone":             {[]string{"--http", "9464"}, database, `--http is "9464", which has no port; write :9464`},
		"no command":             {[]string{"run"}, database, "gw-run without a command runs jobs"},
		"no command, or a like":  {[]string{"work"}, database, "gw-run without a command runs jobs"},
		"command of gw-migrate":  {[]string{"migrate"}, database, "gw-migrate installs and upgrades the queue"},
		"misspelt command":       {[]string{"job"}, database, "did you mean jobs?"},
		"unknown command":        {[]string{"other"}, database, `unknown command "other"`},
		"argument of demo":       {[]string{"demo", "twice"}, database, `unknown command "twice"`},
		"not a number":           {[]string{"--jobs", "many"}, database, `invalid argument "many" for "-j, --jobs"`},
		"empty key":              {[]string{"add", "a", "--key", ""}, database, "the key is empty; without --key the job has none"},
		"no jobs":                {[]string{"-j", "0"}, database, "--jobs is 0, must be at least 1"},
		"pool too small":         {[]string{"-m", "1"}, database, "--max-pool-size is 1, must be at least 2"},
		"contradiction":          {[]string{"--schema-only", "--once"}, database, "exclude each other"},
		"another":                {[]string{"--schema-only", "--no-migrate"}, database, "exclude each other"},
		"how to be told":         {[]string{"--no-listen", "--listen-url", "app"}, database, "exclude each other"},
		"no such listener":       {[]string{"--listen-url", "http://x"}, database, "--listen-url"},
		"poll interval":          {[]string{"--poll-interval", "soon"}, database, "a positive number of milliseconds, or a time like 2s"},
		"poll interval for ever": {[]string{"--poll-interval", "2000000h"}, database, "at most 100 years"},
		"grace for ever":         {[]string{"--grace", "2000000h"}, database, "--grace is 2000000h0m0s, must be at most 876000h"},
		"too many jobs":          {[]string{"-j", "2147483647"}, database, "--jobs is 2147483647, must be at most 100000"},
		"too many connections":   {[]string{"-m", "4294967297"}, database, "--max-pool-size is 4294967297, must be at most 100000"},
		"poll interval 0":        {[]string{"--poll-interval", "0"}, database, "a positive number of milliseconds"},
		"grace":                  {[]string{"--grace", "-1s"}, database, "--grace is -1s, must not be negative"},
		"log format":             {[]string{"--log-format", "xml"}, database, `--log-format is "xml", must be text or json`},
		"log level":              {[]string{"--log-level", "loud"}, database, `--log-level is "loud"`},
		"empty schema":           {[]string{"--schema", ""}, database, "--schema is empty"},
		"no database":            {nil, nil, "DATABASE_URL"},
		"no such connection":     {[]string{"-c", "http://x"}, nil, "--connection"},
		"several at once":        {[]string{"-j", "0", "-m", "0"}, database, "--max-pool-size is 0"},
		"connection of a demo":   {[]string{"demo", "-c", "http://x"}, nil, "--connection"},
		"mirror of a demo":       {[]string{"demo", "--mirror", "maven.example"}, nil, "--mirror or GW_POSTGRES_MIRROR: the mirror for downloads is not"},
		"mirror by a variable":   {[]string{"demo"}, map[string]string{"GW_POSTGRES_MIRROR": "ftp://x"}, "--mirror or GW_POSTGRES_MIRROR"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := command(t, c.env, c.args...)
			if code != cli.ExitUsage || stdout != "" {
				t.Errorf("exit code %d, stdout %q, want %d and nothing", code, stdout, cli.ExitUsage)
			}
			if !strings.Contains(stderr, c.want) || !strings.Contains(stderr, "gw-run --help") {
				t.Errorf("stderr %q, want %q and a hint to --help", stderr, c.want)
			}
		})
	}
}

func TestTasksAreLookedForBeforeTheDatabase(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing")
	for want, tasks := range map[string]string{
		missing: missing,
		"no tasks found in " + dir + "; it is empty": dir,
	} {
		code, _, stderr := command(t, nil, "-c", "postgres:///unused", "--tasks", tasks)
		if code != cli.ExitFailure || !strings.Contains(stderr, want) {
			t.Errorf("exit code %d, stderr %q, want %d and %q", code, stderr, cli.ExitFailure, want)
		}
	}
}

func TestHelpAndVersionGoToStdout(t *testing.T) {
	for arg, want := range map[string]string{"--help": "Exit codes:", "version": "gw-run "} {
		code, stdout, stderr := command(t, nil, arg)
		if code != cli.ExitOK || !strings.Contains(stdout, want) || stderr != "" {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", arg, code, stdout, stderr)
		}
	}
}

func TestTheVersionOfASchemaIsThatOfAConnection(t *testing.T) {
	code, stdout, stderr := command(t, nil, "version", "-c", "host=/nowhere dbname=x")
	if code != cli.ExitFailure || !strings.Contains(stdout, "schema version ") || !strings.Contains(stderr, "connect: ") {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}
