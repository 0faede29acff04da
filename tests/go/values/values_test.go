// Package values calls the functions of the queue with odd values.
package values

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/migrate"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// argument is an argument of a function.
type argument struct {
	Name, Type string
	HasDefault bool
}

// function is a public function of the queue.
type function struct {
	Name      string
	Arguments []argument
}

// oddTexts are texts, as SQL, that are no mistake: formats, quotes, patterns, escapes, and characters of the encoding.
var oddTexts = []string{
	`'%'`, `'%s%I%L%%'`, `'100%'`, `''''`, `'"'`, `'a"b''c'`, `'*'`, `'a*'`, `'\'`, `'\\'`, `'\u0000'`, `'\ud800'`,
	`'\x00'`, `'$1'`, `'$$'`, `'{}'`,
	`'{a,b}'`, `'null'`, `'NULL'`, `'[]'`, `'-'`, `'--'`, `'/*'`, `';'`, `':'`, `'pause:queue:x'`, `'payload:'`,
	`'flag:'`, `'a.b'`, `'S.x'`,
	`'{{.schema}}'`, `''`, `' '`, `e'a\nb'`, `e'\t'`, `chr(1)`, `chr(233)`, `chr(160)`, `repeat('x', 128)`,
	`repeat('%s', 600)`,
}

// oddJSON are documents that the type json accepts.
var oddJSON = []string{
	`'"\u0000"'`, `'{"a":"\u0000"}'`, `'{"\u0000":1}'`, `'{"a":"\ud800"}'`, `'["\udc00\ud800"]'`,
	`'{"a":"\ud83d\ude00"}'`, `'"\u65e5"'`, `'{"%s":"%"}'`,
	`'{"a":1,"a":2}'`, `'{"":null}'`, `'1e400'`, `'-0'`, `'null'`, `'[]'`, `'{}'`, `'[{"a":"\u0000"}]'`, `'[[1]]'`,
	`'"''"'`,
}

// oddArrays are arrays of texts.
var oddArrays = []string{
	`'{{a,b},{c,d}}'`, `'[2:3]={a,b}'`, `'{}'`, `'{""}'`, `array['%s', '''', '"', '*', '\', '\u0000', '{', ',']`,
	`array[null]`, `array['a', 'a']`, `array[repeat('x', 600)]`,
}

func oddOf(kind string) []string {
	switch kind {
	case "text":
		return oddTexts
	case "text[]":
		return oddArrays
	case "json", "jsonb":
		return oddJSON
	}
	return nil
}

// plausible returns a value, as SQL, for the arguments of a function that are not odd; empty for the default.
func plausible(f function, a argument) string {
	switch {
	case a.Type == "text" && a.Name == "worker_id":
		return "'a worker'"
	case a.Name == "job_ids" && slices.ContainsFunc(f.Arguments,
		func(other argument) bool { return other.Name == "leases" }):
		return "array[1, 2]"
	case a.Name == "leases":
		return "array[null, null]"
	case strings.HasSuffix(a.Name, "job_ids") || a.Name == "ids":
		return "array(select id from graphile_worker.jobs)"
	case a.Name == "job_id":
		return "(select max(id) from graphile_worker.jobs)"
	case a.Name == "tasks" && f.Name == "cleanup":
		return "'{GC_JOB_QUEUES}'"
	case a.Name == "wait" || a.Name == "every":
		return "'1 minute'"
	case a.Name == "key":
		return "'a key'"
	case a.Name == "max_running":
		return "1"
	case a.HasDefault:
		return ""
	}
	switch a.Type {
	case "text":
		return map[string]string{"pattern": "'* * * * *'", "name": "'a limit'", "value": "'1'"}[a.Name] +
			map[bool]string{true: "'a'"}[a.Name != "pattern" && a.Name != "name" && a.Name != "value"]
	case "text[]":
		return "'{a}'"
	case "json", "jsonb":
		return "'{}'"
	case "interval":
		return "'1 minute'"
	case "timestamp with time zone":
		return "now()"
	case "integer", "bigint", "smallint", "double precision":
		return "1"
	case "boolean":
		return "true"
	}
	return "null"
}

// refusals are the errors that an odd value may cause. Codes of the queue's own say what is wrong. run_cron and cron_schedule
// document 22P05 and 22P02 for a payload, into which the time of each run is written.
func mayRaise(f function, a argument, code string) bool {
	switch {
	case strings.HasPrefix(code, "GW"):
		return true
	case strings.Contains(f.Name, "cron") && (a.Type == "json" || a.Type == "jsonb"):
		return code == "22P05" || code == "22P02"
	case a.Type == "jsonb": // the type itself refuses the document
		return code == "22P05" || code == "22P02" || code == "22003"
	}
	return false
}

func newDatabase(t *testing.T, encoding string) *pgxpool.Pool {
	t.Helper()
	pool := pgtest.Pool(t, pgtest.EncodedDatabase(t, encoding))
	migrator, err := migrate.New(pool.Config().ConnConfig, migrate.Config{})
	if err == nil {
		_, err = migrator.Up(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

// functionsOf returns the functions of the queue that users may call.
func functionsOf(t *testing.T, pool *pgxpool.Pool) (functions []function) {
	t.Helper()
	rows, err := pool.Query(t.Context(), `
		select p.proname, array_agg(a.name order by a.n), array_agg(format_type(a.type, null) order by a.n),
		       array_agg(a.n > p.pronargs - p.pronargdefaults order by a.n)
		  from pg_proc as p
		 cross join lateral unnest(p.proargnames[1:p.pronargs], p.proargtypes::oid[]) with ordinality as a (name, type, n)
		 where p.pronamespace = 'graphile_worker'::regnamespace and p.proname not like '\_gw\_%' and p.prokind = 'f'
		   and p.prorettype <> 'trigger'::regtype
		 group by p.oid, p.proname
		 order by p.proname`)
	if err != nil {
		t.Fatal(err)
	}
	var name string
	var names, types []string
	var defaults []bool
	_, err = pgx.ForEachRow(rows, []any{&name, &names, &types, &defaults}, func() error {
		f := function{Name: name}
		for i := range names {
			f.Arguments = append(f.Arguments, argument{names[i], types[i], defaults[i]})
		}
		functions = append(functions, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return functions
}

// call returns a call of a function with an odd value for one of its arguments.
func (f function) call(odd int, value string) string {
	var given []string
	for i, a := range f.Arguments {
		v := plausible(f, a)
		if i == odd {
			v = value
		}
		if v != "" {
			given = append(given, fmt.Sprintf("%s => (%s)::%s", pgx.Identifier{a.Name}.Sanitize(), v, a.Type))
		}
	}
	return fmt.Sprintf("select * from graphile_worker.%s(%s)", f.Name, strings.Join(given, ", "))
}

// The jobs, of which one runs, have odd payloads and flags, and all that can be asked for is: limits, pauses, history, results.
const setup = `
	select graphile_worker.register_worker('a worker', '{a}', 1, 'host', 1, '1');
	select graphile_worker.keep_task('a', '1 day', payloads => true, results => true);
	select graphile_worker.add_job('a', '{"a":"\u0000\ud800"}', flags => array['%s', '\u0000']);
	select graphile_worker.get_job('a worker', array['a']);
	select graphile_worker.set_limit('a limit', max_running => 1, tasks => '{b}', by => 'payload:a');
	select graphile_worker.add_job('b', '{"b":"\u0000"}');
	select graphile_worker.add_job('b', '{"a":"\ud800"}', job_key => 'a');
	select graphile_worker.add_job('c', '"\u0000"', queue_name => '%s');
	select graphile_worker.expect_result(id) from graphile_worker.jobs`

// inEncodings runs a test in a database of each of two encodings, which is set up.
func inEncodings(t *testing.T, test func(t *testing.T, pool *pgxpool.Pool)) {
	t.Helper()
	for _, encoding := range []string{"UTF8", "LATIN1"} {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			pool := newDatabase(t, encoding)
			pgtest.Exec(t, pool, setup)
			test(t, pool)
		})
	}
}

func TestNoFunctionStumblesOverAnOddValue(t *testing.T) {
	inEncodings(t, func(t *testing.T, pool *pgxpool.Pool) {
		calls := 0
		for _, f := range functionsOf(t, pool) {
			for i, a := range f.Arguments {
				for _, value := range oddOf(a.Type) {
					calls++
					call := f.call(i, value)
					err := inVain(t.Context(), pool, call)
					if refusal := (*pgconn.PgError)(nil); errors.As(err, &refusal) && !mayRaise(f, a, refusal.Code) {
						t.Errorf("%s\n%s: %s (%s)", call, refusal.Code, refusal.Message, refusal.Where)
					} else if err != nil && refusal == nil {
						t.Fatal(err)
					}
				}
			}
		}
		if calls < 1000 {
			t.Errorf("only %d calls", calls)
		}
	})
}

// Calls with a document in it: the arguments of these functions have parts. JSON stands for the document.
var callsWithJSON = []string{
	`select * from graphile_worker.fail_job_batch('a worker', json_build_array(json_build_object('id', RUNNING, 'message', JSON::json, 'payload', JSON::json)))`,
	`select * from graphile_worker.complete_job_batch('a worker', array[RUNNING], null, array[JSON::json])`,
	`select * from graphile_worker.complete_job('a worker', RUNNING, result => JSON::json)`,
	`select * from graphile_worker.save_step('a worker', RUNNING, null, 'step', JSON::json)`,
	`select * from graphile_worker.add_jobs(array[row('a', JSON::json, null, null, null, 'key', null, null)::graphile_worker.job_spec,
	   row('b', JSON::json, '%s', null, null, 'a', null, '{{a,b},{c,d}}')::graphile_worker.job_spec])`,
	`select * from graphile_worker.add_job('b', json_build_object('a', JSON::json)), graphile_worker.get_job_batch('a worker', '{a,b,c}', 10)`,
	`select * from graphile_worker.get_job_batch('a worker', '{a,b,c}', 10, task_forbidden_flags => json_build_object('a', json_build_array(JSON::json)))`,
}

func TestNoPartOfADocumentIsStumbledOver(t *testing.T) {
	inEncodings(t, func(t *testing.T, pool *pgxpool.Pool) {
		for _, call := range callsWithJSON {
			for _, document := range oddJSON {
				call := strings.NewReplacer("JSON", document, "RUNNING",
					"(select id from graphile_worker.jobs where locked_by = 'a worker')").Replace(call)
				if err := inVain(t.Context(), pool, call); err != nil && !strings.HasPrefix(sqlstate.Of(err), "GW") {
					t.Errorf("%s: %v", call, err)
				}
			}
		}
	})
}

// A result is JSON, but no operator of JSON reads it, so what the type json accepts is stored: for those who wait, and in the history.
func TestAnyResultIsStored(t *testing.T) {
	inEncodings(t, func(t *testing.T, pool *pgxpool.Pool) {
		pgtest.Exec(t, pool, `select graphile_worker.await_jobs('{1}')`)
		for _, result := range oddJSON {
			pgtest.Exec(t, pool, `delete from graphile_worker._gw_expected; delete from graphile_worker._gw_ended`)
			id := pgtest.Value[int64](t, pool, `select id from graphile_worker.add_job('a', priority => -9)`)
			pgtest.Exec(t, pool, `select graphile_worker.expect_result($1::bigint)`, id)
			pgtest.Exec(t, pool, `select graphile_worker.get_job('a worker', array['a'])`)
			pgtest.Exec(t, pool, fmt.Sprintf(`select graphile_worker.complete_job_batch('a worker', array[%d], null, array[%s::json])`, id, result))
			got := pgtest.Value[string](t, pool, `
				select concat_ws(' ', r.state, r.result, h.result)
				  from graphile_worker.job_results(array[$1::bigint]) as r, graphile_worker.job_history($1) as h`, id)
			document := strings.ReplaceAll(strings.Trim(result, "'"), "''", "'")
			if want := "completed " + document + " " + document; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	})
}

// Eight times as many results take eight times as long, not sixty-four times. A neighbour that is busy for a moment does not count:
// one of some tries is within the bound.
func TestTheEndOfAJobReadsOnlyItsOwnResult(t *testing.T) {
	t.Parallel()
	pool := newDatabase(t, "UTF8")
	pgtest.Exec(t, pool, `select graphile_worker.keep_task('a', '1 day', results => true)`)
	complete := func(jobs int) time.Duration {
		pgtest.Exec(t, pool, fmt.Sprintf(`
			select graphile_worker.add_job('a') from generate_series(1, %[1]d);
			select count(*) from graphile_worker.get_job_batch('w', batch_size => %[1]d)`, jobs))
		began := time.Now()
		pgtest.Exec(t, pool, `
			select graphile_worker.complete_job_batch('w', ids, null, array(select to_json(repeat('x', 900000)) from unnest(ids)))
			  from (select array_agg(id) as ids from graphile_worker._private_jobs) as j`)
		return time.Since(began)
	}
	complete(10)
	var few, many time.Duration
	for range 5 {
		if few, many = complete(10), complete(80); many <= 24*few {
			return
		}
	}
	t.Errorf("10 results took %v, 80 took %v", few, many)
}

func TestFlagsOfSeveralDimensionsAreFlags(t *testing.T) {
	t.Parallel()
	pool := newDatabase(t, "UTF8")
	for call, want := range map[string]string{
		`select flags::text from graphile_worker.add_job('a', flags => '{{a,b},{c,d}}')`:                                                             `{"a": true, "b": true, "c": true, "d": true}`,
		`select flags::text from graphile_worker.add_job('a', flags => '{{a,b},{c,d}}', job_key => 'k')`:                                             `{"a": true, "b": true, "c": true, "d": true}`,
		`select flags::text from graphile_worker.add_jobs(array[row('a', null, null, null, null, null, null, '{{a,b}}')::graphile_worker.job_spec])`: `{"a": true, "b": true}`,
	} {
		if got := pgtest.Value[string](t, pool, call); got != want {
			t.Errorf("%s: %s, want %s", call, got, want)
		}
	}
	id := pgtest.Value[int64](t, pool, `select id from graphile_worker.add_job_once('a', key => 'once', flags => '{{a},{c}}')`)
	if got := pgtest.Value[string](t, pool, `select flags::text from graphile_worker.jobs where id = $1`,
		id); got != `{"a": true, "c": true}` {
		t.Errorf("add_job_once: %s", got)
	}
	err := inVain(t.Context(), pool, `select graphile_worker.add_job('a', flags => array[array['a', null]])`)
	if sqlstate.Of(err) != "GWBNF" {
		t.Errorf("a flag that is null: %v", err)
	}
}

func TestForbiddenFlagsAndMessagesMayHaveAnyEscape(t *testing.T) {
	for encoding, want := range map[string]string{"UTF8": "a\uFFFD\uFFFD\U0001F600",
		"LATIN1": `a\u0000\ud800\ud83d\ude00`} {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			pool := newDatabase(t, encoding)
			pgtest.Exec(t, pool, `select graphile_worker.add_job('a', flags => '{x}'), graphile_worker.add_job('a')`)
			pgtest.Exec(t, pool, `select graphile_worker.get_job_batch('w', '{a}', 10, task_forbidden_flags => '{"a":["x","\u0000","\ud83d\ude00"]}')`)
			pgtest.Exec(t, pool, `select graphile_worker.fail_job_batch('w', json_build_array(json_build_object('id', 2, 'message', '"a\u0000\ud800\ud83d\ude00"'::json)))`)
			if got := pgtest.Value[string](t, pool,
				`select last_error from graphile_worker.jobs where id = 2`); got != want {
				t.Errorf("the error is %s, want %s", got, want)
			}
			if locked := pgtest.Value[int](t, pool,
				`select count(*)::int from graphile_worker.jobs where attempts > 0`); locked != 1 {
				t.Errorf("%d jobs were claimed", locked)
			}
		})
	}
}

// inVain runs a statement and rolls it back.
func inVain(ctx context.Context, pool *pgxpool.Pool, sql string) error {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
	if rollback := tx.Rollback(ctx); err == nil {
		err = rollback
	}
	return err
}
