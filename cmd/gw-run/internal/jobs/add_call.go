package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/statement"
	"github.com/gwsql/gw/internal/terminal"
)

// add is a run of gw-run add.
type add struct {
	cli.Database
	json                       bool
	queue, runAt, key, keyMode string
	in                         cli.Span
	keyed                      keyedCall
	maxAttempts, priority      int
	flags                      []string
	isGiven                    func(flag string) bool
}

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
		return cli.Usagef("--max-wait requires --debounce")
	case len(given) == 0:
		return nil
	case len(given) > 1:
		return cli.Usagef("%s and %s exclude each other", given[0], given[1])
	case a.key == "":
		return cli.Usagef("%s requires --key", given[0])
	case a.keyMode != "":
		return cli.Usagef("%s and --key-mode exclude each other", given[0])
	case k.once == "" && a.runAt != "":
		return cli.Usagef("%s and --run-at exclude each other", given[0])
	case k.once == "" && a.in != "":
		return cli.Usagef("%s and --in exclude each other", given[0])
	}
	return nil
}

// options returns the arguments of the job that a call by SQL takes.
func (a *add) options() (flags, maxAttempts any) {
	if len(a.flags) > 0 {
		flags = a.flags
	}
	if a.isGiven("max-attempts") {
		maxAttempts = int64(a.maxAttempts)
	}
	return flags, maxAttempts
}

// call adds the job. The row of add_job() has ids for its task and queue instead of names. The names are those of the call,
// except for an existing job that unsafe_dedupe leaves unchanged.
func (a *add) call(ctx context.Context, db *cli.Session, task string, payload any) (inspect.Answer, error) {
	flags, maxAttempts := a.options()
	return db.Ask(ctx, `
		select a.id, S.job_state(a.run_at, a.attempts, a.max_attempts, a.locked_at) as state,
		       case when a.revision operator(pg_catalog.=) 0 or k.task_identifier is null then $1::text else k.task_identifier end as task_identifier,
		       case when a.revision operator(pg_catalog.=) 0 or k.task_identifier is null then $3::text else k.queue_name end as queue_name,
		       a.key, a.priority, a.run_at, a.attempts, a.max_attempts, a.last_error, a.created_at, a.updated_at, a.locked_at,
		       a.locked_by, a.revision, a.flags
		  from S.add_job($1::text, $2::text::json, $3::text,
		                 coalesce($4::text::timestamptz, pg_catalog.now() operator(pg_catalog.+) $5::text::interval),
		                 $6::bigint::integer, $7::text, $8::bigint::integer, $9::text[], $10::text) as a
		  left join S.jobs as k on k.id operator(pg_catalog.=) a.id and $10::text operator(pg_catalog.=) 'unsafe_dedupe'`,
		task, payload, statement.OrNull(a.queue), statement.OrNull(a.runAt), statement.OrNull(a.in), maxAttempts, statement.OrNull(a.key),
		int64(a.priority), flags, statement.OrNull(a.keyMode))
}

// describe returns what add_job() did, in one line.
func (a *add) describe(j job, now time.Time) string {
	what := "added"
	switch {
	case j.Revision > 0 && a.keyMode == "unsafe_dedupe":
		what = "unchanged"
	case j.Revision > 0:
		what = "replaced"
	}
	text := fmt.Sprintf("Job %d %s: %s", j.ID, what, j.State)
	if when := j.when(now); j.State != "ready" && when != "" {
		text += " " + when
	}
	return terminal.Printable(text)
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
