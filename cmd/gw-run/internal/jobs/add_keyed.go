package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/statement"
	"github.com/gwsql/gw/internal/terminal"
)

// keyedCall are the flags that let the key decide whether, or when, a job runs: add_job_once() and its like.
type keyedCall struct {
	once, debounce, maxWait, throttle cli.Span
}

func (k *keyedCall) addFlags(flags *pflag.FlagSet) {
	flags.Var(&k.once, "once", "add nothing if a call under the key has added a job within this `time`, such as 1d")
	flags.Var(&k.debounce, "debounce", "run when no call under the key has come for this `time`, such as 5s")
	flags.Var(&k.maxWait, "max-wait", "with --debounce: run at most this `time` after the first call (default no limit)")
	flags.Var(&k.throttle, "throttle", "run at most once in this `time` under the key, such as 30s")
}

func (k *keyedCall) isGiven() bool { return k.once != "" || k.debounce != "" || k.throttle != "" }

// check refuses flags that do not go together.
func (k *keyedCall) check(a *add) error {
	var given []string
	for _, flag := range []struct {
		name  string
		value cli.Span
	}{{"once", k.once}, {"debounce", k.debounce}, {"throttle", k.throttle}} {
		if flag.value != "" {
			given = append(given, "--"+flag.name)
		}
	}
	switch {
	case k.maxWait != "" && k.debounce == "":
		return errors.New("--max-wait requires --debounce")
	case len(given) == 0:
		return nil
	case len(given) > 1:
		return fmt.Errorf("%s and %s exclude each other", given[0], given[1])
	case a.key == "":
		return fmt.Errorf("%s requires --key", given[0])
	case a.keyMode != "":
		return fmt.Errorf("%s and --key-mode exclude each other", given[0])
	case k.once == "" && a.runAt != "":
		return fmt.Errorf("%s and --run-at exclude each other", given[0])
	case k.once == "" && a.in != "":
		return fmt.Errorf("%s and --in exclude each other", given[0])
	}
	return nil
}

// callByKey adds the job by add_job_once(), debounce_job() or throttle_job().
func (a *add) callByKey(ctx context.Context, db *cli.Session, task string, payload any) (inspect.Answer, error) {
	flags, maxAttempts := a.options()
	args := []any{task, payload, a.key, statement.OrNull(a.queue), maxAttempts, int64(a.priority), flags}
	call := ""
	switch {
	case a.keyed.once != "":
		call = `S.add_job_once($1::text, $2::text::json, $3::text, $8::text::interval, $4::text,
		         coalesce($9::text::timestamptz, pg_catalog.now() operator(pg_catalog.+) $10::text::interval),
		         $5::bigint::integer, $6::bigint::integer, $7::text[])`
		args = append(args, a.keyed.once, statement.OrNull(a.runAt), statement.OrNull(a.in))
	case a.keyed.debounce != "":
		call = `S.debounce_job($1::text, $2::text::json, $3::text, $8::text::interval, $9::text::interval, $4::text,
		         $5::bigint::integer, $6::bigint::integer, $7::text[])`
		args = append(args, a.keyed.debounce, statement.OrNull(a.keyed.maxWait))
	default:
		call = `S.throttle_job($1::text, $2::text::json, $3::text, $8::text::interval, $4::text,
		         $5::bigint::integer, $6::bigint::integer, $7::text[])`
		args = append(args, a.keyed.throttle)
	}
	return db.Ask(ctx, `select a.id, a.state, a.due_at, a.revision, a.is_new from `+call+` as a`, args...)
}

// keyedJob is a row of add_job_once() and its like.
type keyedJob struct {
	ID    int64          `json:"id"`
	State string         `json:"state"`
	DueAt inspect.Moment `json:"due_at"`
	IsNew bool           `json:"is_new"`
}

// describe returns what such a call did, in one line.
func (k *keyedCall) describe(j keyedJob, now time.Time) string {
	what := "replaced"
	switch {
	case j.IsNew:
		what = "added"
	case k.once != "":
		what = "unchanged"
	}
	text := fmt.Sprintf("Job %d %s: %s", j.ID, what, j.State)
	if j.State == "scheduled" {
		text += " " + cli.Ago(j.DueAt, now)
	}
	return terminal.Printable(text)
}
