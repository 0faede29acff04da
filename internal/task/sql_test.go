package task_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
)

func TestWhatAFunctionDoesIsDoneWithItsJob(t *testing.T) {
	eachMode(t, func(t *testing.T, s *shop, sql task.SQL) {
		s.add("", "", "")
		s.group(sql)
		want(t, "effects", s.effects(), "1 2 3")
		want(t, "jobs left", s.left(), "")
		if n := s.transactions(); sql.Batch == 0 && n != 3 {
			t.Errorf("there were %d transactions, want 3", n)
		}
		want(t, "outcomes", s.outcomes, "completed completed completed")
		want(t, "time-out", pgtest.Value[string](t, s.pool, `select max(timeout) from app.effects`), "1min")
	})
}

func TestAFunctionThatFailsIsUndoneAndItsNeighboursAreNot(t *testing.T) {
	eachMode(t, func(t *testing.T, s *shop, sql task.SQL) {
		for _, does := range [][]string{
			{"raise"}, {"raise", "", ""}, {"", "raise", ""}, {"", "", "raise"}, {"raise", "raise", "raise"},
			{"raise", "", "raise", "", "", "raise"},
		} {
			s.empty(t)
			s.add(does...)
			s.group(sql)
			var done, failed []string
			for i, do := range does {
				if do == "" {
					done = append(done, fmt.Sprint(i+1))
				} else {
					failed = append(failed, fmt.Sprintf("%d:1", i+1))
				}
			}
			want(t, "effects", s.effects(), strings.Join(done, " "))
			want(t, "jobs left", s.left(), strings.Join(failed, " "))
		}
	})
}

func TestAFailureSaysWhatPostgreSQLSays(t *testing.T) {
	eachMode(t, func(t *testing.T, s *shop, sql task.SQL) {
		s.add("raise")
		s.work(sql)
		message := pgtest.Value[string](t, s.pool, `select last_error from graphile_worker.jobs`)
		if prefix := "app.work: No such order. (SQLSTATE P0001)\nDETAIL: It is 1.\nHINT: Ask again.\n" +
			"CONTEXT: PL/pgSQL function app.work(json) line 9 at RAISE"; !strings.HasPrefix(message, prefix) {
			t.Errorf("error %q", message)
		}
	})
}

func TestTheStatementTimeoutBinds(t *testing.T) {
	eachMode(t, func(t *testing.T, s *shop, sql task.SQL) {
		s.add("", "sleep", "")
		sql.Timeout = 100 * time.Millisecond
		s.group(sql)
		want(t, "effects", s.effects(), "1 3")
		want(t, "jobs left", s.left(), "2:1")
		message := pgtest.Value[string](t, s.pool, `select last_error from graphile_worker.jobs`)
		if !strings.Contains(message, "statement timeout (SQLSTATE 57014)") {
			t.Errorf("error %q, want the time-out", message)
		}
	})
}

func TestAJobThatOnlyTheCommitShowsToBeWrongFailsAlone(t *testing.T) {
	eachMode(t, func(t *testing.T, s *shop, sql task.SQL) {
		s.add("", "", "")
		pgtest.Exec(t, s.pool, `
			update graphile_worker._private_jobs as j
			   set payload = '{"n": 2, "later": 7}' where (payload ->> 'n') = '2'`)
		s.group(sql)
		want(t, "effects", s.effects(), "1 3")
		want(t, "jobs left", s.left(), "2:1")
		message := pgtest.Value[string](t, s.pool, `select last_error from graphile_worker.jobs`)
		if !strings.Contains(message, "(SQLSTATE 23503)") {
			t.Errorf("error %q, want the violated constraint", message)
		}
	})
}

func TestALeaseThatIsLostWhileTheFunctionRunsUndoesIt(t *testing.T) {
	eachMode(t, func(t *testing.T, s *shop, sql task.SQL) {
		s.add("wait")
		gate, err := s.pool.Begin(t.Context())
		if err == nil {
			_, err = gate.Exec(t.Context(), `select pg_advisory_xact_lock(1)`)
		}
		if err != nil {
			t.Fatal(err)
		}
		worker := s.worker(s.pool, sql)
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.run(worker)
		}()
		pgtest.Await(t, s.pool, `select exists (select from pg_locks where locktype = 'advisory' and not granted
			and database = (select oid from pg_database where datname = current_database()))`)
		pgtest.Exec(t, s.pool, `update graphile_worker._private_jobs set locked_by = 'other', locked_at = clock_timestamp()`)
		if err := gate.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-done
		want(t, "effects", s.effects(), "")
		want(t, "jobs left", s.left(), "1:1")
		want(t, "outcomes", s.outcomes, "lease_lost")
	})
}

func TestAFunctionMayAskForItsOwnJobAgain(t *testing.T) {
	eachMode(t, func(t *testing.T, s *shop, sql task.SQL) {
		pgtest.Exec(t, s.pool, `select graphile_worker.add_job('a', '{"n": 1, "do": "again"}', job_key := 'k')`)
		s.work(sql)
		want(t, "effects", s.effects(), "-1 1")
		want(t, "jobs left", s.left(), "")
	})
}

func TestAFunctionThatBreaksTheConnectionFailsNoJob(t *testing.T) {
	eachMode(t, func(t *testing.T, s *shop, sql task.SQL) {
		s.warmUp()
		s.add("", "die", "", "die", "")
		pgtest.Exec(t, s.pool, `update graphile_worker._private_jobs set max_attempts = 1`)
		s.work(sql)
		want(t, "effects", s.effects(), "1 2 3 4 5")
		want(t, "jobs left", s.left(), "")
		want(t, "outcomes", s.outcomes, "completed completed completed completed completed")
	})
}

func TestAFunctionThatIsCutGoesBackToTheQueueAndIsUndone(t *testing.T) {
	eachMode(t, func(t *testing.T, s *shop, sql task.SQL) {
		s.add("sleep")
		worker := s.worker(s.pool, sql)
		done := make(chan error, 1)
		go func() { done <- worker.RunOnce(context.Background()) }()
		const sleeps = `select exists (select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep')`
		pgtest.Await(t, s.pool, sleeps)
		worker.Kill()
		if err := <-done; err == nil || !strings.Contains(err.Error(), "interrupted") {
			t.Errorf("error %v, want that a job was interrupted", err)
		}
		want(t, "jobs left", s.left(), "1:0")
		pgtest.Await(t, s.pool, `select not (`+strings.TrimPrefix(sleeps, "select ")+`)`)
		want(t, "effects", s.effects(), "")
	})
}

func TestProceduresAreCalledAndThoseThatCommitAreRefused(t *testing.T) {
	s := newShop(t)
	pgtest.Exec(t, s.pool, `
		create procedure app.finish(payload jsonb, dry boolean default false) language plpgsql as $$
		begin
		  insert into app.effects (n) values ((payload ->> 'n')::integer);
		  if payload ->> 'do' = 'commit' then
		    commit;
		  end if;
		end;
		$$`)
	s.add("", "commit", "")
	s.group(task.SQL{Function: "app.finish"})
	want(t, "effects", s.effects(), "1 3")
	want(t, "jobs left", s.left(), "2:3")
	message := pgtest.Value[string](t, s.pool, `select last_error from graphile_worker.jobs`)
	if !strings.Contains(message, "app.finish commits or rolls back by itself, which it cannot within the transaction") {
		t.Errorf("error %q, want the reason", message)
	}
}

func TestFunctionsAreCalledInEachQueryMode(t *testing.T) {
	eachMode(t, func(t *testing.T, s *shop, sql task.SQL) {
		for _, mode := range pgtest.QueryModes {
			t.Run(mode.String(), func(t *testing.T) {
				s.empty(t)
				s.add("", "raise", "it's \\ ", "sleep", "")
				sql.Timeout = 200 * time.Millisecond
				s.groupOn(pgtest.PoolInMode(t, s.url, mode), sql)
				want(t, "effects", s.effects(), "1 3 5")
				want(t, "jobs left", s.left(), "2:1 4:1")
			})
		}
	})
}

func TestAConnectionWhoseStatementsTheServerForgotIsGivenUpWithoutAFailure(t *testing.T) {
	s := newShop(t)
	config, err := pgxpool.ParseConfig(s.url)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for range 2 {
		pgtest.Exec(t, s.pool, `select graphile_worker.add_job('a', '{"n": 1}', max_attempts := 1)`)
		s.groupOn(pool, task.SQL{Function: "app.work"})
		// Behind a pooler it is another server by now.
		if _, err := pool.Exec(t.Context(), `deallocate all`, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	want(t, "effects", s.effects(), "1 1")
	want(t, "jobs left", s.left(), "")
}
