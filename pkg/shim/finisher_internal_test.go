package shim

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/sqlstate"
)

func TestAnOutcomeTheDatabaseRefusesDoesNotKeepBackTheOthers(t *testing.T) {
	outcomes := []outcome{
		{job: newHeldJob(1), verdict: verdictFailed, message: "plain"},
		{job: newHeldJob(2), verdict: verdictFailed, message: "→"}, // as a LATIN1 database refuses it
		{job: newHeldJob(3), verdict: verdictFailed, message: "plain"},
	}
	written := make(map[int64]string)
	call := func(_ context.Context, batch []outcome) (applied, error) {
		if slices.ContainsFunc(batch, func(o outcome) bool { return o.message == "→" }) {
			return nil, &pgconn.PgError{Code: "22P05"}
		}
		done := make(applied)
		for _, o := range batch {
			written[o.job.ID], done[o.job.ID] = o.message, fate{}
		}
		return done, nil
	}
	f := &finisher{loop: loop{queries: &queries{}, logger: slog.New(slog.DiscardHandler),
		fail: func(err error) { t.Error(err) }}}
	f.write(t.Context(), "fail", outcomes, call)
	if len(written) != 3 || written[1] != "plain" || written[2] != `"\u2192"` || f.unwritten != 0 {
		t.Errorf("written are %v, unwritten %d", written, f.unwritten)
	}
}

func TestOutcomesAreWrittenAgainUntilTheDatabaseTakesThem(t *testing.T) {
	tries := 0
	call := func(context.Context, []outcome) (applied, error) {
		tries++
		if tries < 3 {
			return nil, errors.New("connection lost")
		}
		return applied{1: {}}, nil
	}
	f := &finisher{loop: loop{queries: &queries{}, logger: slog.New(slog.DiscardHandler),
		fail: func(err error) { t.Error(err) }}}
	f.write(t.Context(), "complete", []outcome{{job: newHeldJob(1)}}, call)
	if tries != 3 || f.unwritten != 0 {
		t.Errorf("%d tries, %d unwritten", tries, f.unwritten)
	}
}

func TestAMissingFunctionEndsTheWorkerWithoutRetries(t *testing.T) {
	var cause error
	call := func(context.Context, []outcome) (applied, error) { return nil, &pgconn.PgError{Code: "42883"} }
	f := &finisher{loop: loop{queries: &queries{}, logger: slog.New(slog.DiscardHandler),
		fail: func(err error) { cause = err }}}
	f.write(t.Context(), "complete", []outcome{{job: newHeldJob(1)}}, call)
	if sqlstate.Of(cause) != "42883" || f.unwritten != 1 {
		t.Errorf("cause is %v, %d unwritten", cause, f.unwritten)
	}
}
