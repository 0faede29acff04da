package shim

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/sqlstate"
)

// A migration that commits during a call replaces the functions that the old one calls. The call is repeated; an error
// that stays is a mistake, or of the user's trigger.
func TestACallThatAMigrationHasOvertakenIsRepeated(t *testing.T) {
	const claim = "get_job_batch(text,text[],integer) line 78 at assignment"
	for where, want := range map[string]struct{ repeated, isMistake bool }{
		"": {isMistake: true}, // of the worker's own statement
		"PL/pgSQL function graphile_worker." +
			claim: {repeated: true, isMistake: true},
		"PL/pgSQL-Funktion graphile_worker." +
			claim: {repeated: true, isMistake: true},
		"PL/pgSQL function public.audit() line 1 at PERFORM\nPL/pgSQL function graphile_worker." + claim: {},
	} {
		for passes := range 3 { // an upgrade may commit several migrations
			calls := 0
			err := (&queries{}).on(t.Context(), nil, func(context.Context, *pgx.Conn) error {
				if calls++; calls > passes && passes > 0 {
					return nil
				}
				return &pgconn.PgError{Code: "42883", Where: where}
			})
			if isRepeated := calls > 1; isRepeated != want.repeated || calls > maxOvertaken+1 {
				t.Errorf("%q: %d calls", where, calls)
			}
			if isCured := err == nil; isCured != (want.repeated && passes > 0) {
				t.Errorf("%q: error %v after %d calls", where, err, calls)
			}
			if err != nil && (sqlstate.IsMistake(err) != want.isMistake ||
				sqlstate.IsRefusedOutcome(err) == want.isMistake) {
				t.Errorf("%q: is a mistake %t, a refusal %t", where, sqlstate.IsMistake(err),
					sqlstate.IsRefusedOutcome(err))
			}
		}
	}
}

// An outcome with a usually transient error is retried for some seconds; if the error stays, it is the result of this
// one job.
func TestAnErrorThatDoesNotPassIsARefusal(t *testing.T) {
	for code, passes := range map[string]bool{"40001": true, "40P01": false, "XX000": false} {
		t.Run(code, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				var permanent []int64
				call := func(_ context.Context, batch []outcome) (applied, error) {
					isBad := slices.ContainsFunc(batch, func(o outcome) bool { return o.job.ID == 2 && !o.permanent })
					if tries++; isBad && !(passes && tries > 3) {
						return nil, &pgconn.PgError{Code: code}
					}
					done := make(applied)
					for _, o := range batch {
						done[o.job.ID] = fate{state: "scheduled"}
						if o.permanent {
							permanent = append(permanent, o.job.ID)
						}
					}
					return done, nil
				}
				f := &finisher{loop: loop{queries: &queries{}, logger: slog.New(slog.DiscardHandler),
					fail: func(err error) { t.Error(err) }}}
				f.write(t.Context(), "fail", []outcome{
					{job: newHeldJob(1), verdict: verdictFailed}, {job: newHeldJob(2), verdict: verdictFailed},
					{job: newHeldJob(3), verdict: verdictFailed},
				}, call)
				want := []int64{2}
				if passes {
					want = nil
				}
				if !slices.Equal(permanent, want) || f.unwritten+f.left != 0 {
					t.Errorf("failed for good are %v, %d are not written", permanent, f.unwritten+f.left)
				}
			})
		})
	}
}
