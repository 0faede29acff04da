package operate

import (
	"context"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/statement"
	"github.com/gwsql/gw/internal/terminal"
)

// Audit is who acts, on which jobs, and as a step of which operation: see list_audit().
type Audit struct{ Actor, Selection, Operation string }

// Set records the audit in the settings of a transaction.
func (a Audit) Set(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `
		select pg_catalog.set_config('gw.actor', $1::pg_catalog.text, true), pg_catalog.set_config('gw.selection', $2::pg_catalog.text, true),
		       pg_catalog.set_config('gw.operation', $3::pg_catalog.text, true)`, pgx.QueryExecModeExec, a.Actor,
		a.Selection, a.Operation)
	return err
}

// Change is an act on many jobs, in steps.
type Change struct {
	Act       Act
	Selection *Selection // which the jobs must still match; nil for any
}

// Outcome is whether a job was changed, and otherwise the reason.
type Outcome struct {
	ID     int64  `json:"id"`
	IsDone bool   `json:"is_done"`
	Reason string `json:"reason,omitempty"`
}

// Step changes some jobs in a transaction, after the number of jobs in earlier steps. Jobs that no longer match the
// selection have no outcome.
func (c Change) Step(ctx context.Context, conn *pgx.Conn, schema string, ids []int64, before int) ([]Outcome, error) {
	wanted, args := `select w.id from pg_catalog.unnest($1::bigint[]) as w (id)`, append([]any{ids}, c.Act.args...)
	if c.Selection != nil {
		wanted = `select m.id from S.matching_job_ids(` + Conditions(len(args)+1) +
			`, job_ids => $1::bigint[], max_rows => null, error_group => $` +
			strconv.Itoa(len(args)+7) + `::text) as m (id)`
		args = append(append(args, c.Selection.Arguments()...), statement.OrNull(c.Selection.ErrorGroup))
	}
	call := strings.NewReplacer("IDS", "array(select w.id from wanted as w order by w.id)", "BEFORE",
		strconv.Itoa(before)).Replace(c.Act.call)
	outcomes, err := ask[Outcome](ctx, conn, schema, `
		with wanted as materialized (`+wanted+`),
		     changed as materialized (select j.id from `+call+` as j)
		select w.id, c.id is not null as is_done
		  from (select distinct w.id from wanted as w) as w
		  left join changed as c on c.id operator(pg_catalog.=) w.id
		 order by w.id`, args...)
	if err != nil {
		return nil, err
	}
	var skipped []int64
	for _, o := range outcomes {
		if !o.IsDone {
			skipped = append(skipped, o.ID)
		}
	}
	if skipped == nil {
		return outcomes, nil
	}
	reasons, err := ask[skip](ctx, conn, schema, `select s.* from S.skip_reasons($1::bigint[]) as s`, skipped)
	texts := make(map[int64]string, len(reasons))
	for _, s := range reasons {
		texts[s.ID] = c.Act.explain(s)
	}
	for i, o := range outcomes {
		outcomes[i].Reason = texts[o.ID]
	}
	return outcomes, err
}

func ask[T any](ctx context.Context, conn *pgx.Conn, schema, query string, args ...any) ([]T, error) {
	found, err := inspect.Ask(ctx, conn, schema, query, append([]any{pgx.QueryExecModeExec}, args...)...)
	if err != nil {
		return nil, err
	}
	return inspect.Decode[T](found.Rows)
}

// skip is a row of skip_reasons().
type skip struct {
	ID       int64  `json:"id"`
	Reason   string `json:"reason"`
	LockedBy string `json:"locked_by"`
}

// explain returns in words why a job was skipped.
func (a Act) explain(s skip) string {
	switch {
	case s.Reason == "gone":
		return "does not exist (any more)"
	case s.Reason == "running":
		return "is being run by " + terminal.Printable(s.LockedBy)
	case a.failed != "" && (s.Reason == "failed" || s.Reason == "replaced"):
		return a.failed
	case s.Reason == "replaced":
		return "was replaced or removed while it ran; gw-run reschedule --attempts 0 makes it run again anyway"
	}
	return "was locked by another transaction"
}
