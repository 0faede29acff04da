package engine

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

// play is a database in which a test does one thing after another. In its statements, gw stands for the schema.
type play struct {
	t    *testing.T
	pool *pgxpool.Pool
	conn *pgx.Conn // of the workers: a claim leaves in its session what next_run_at reads
}

// job is a claimed job.
type job struct {
	id       int64
	worker   string
	task     string
	payload  string
	queue    *string
	lease    int64
	flags    *string
	attempts int
}

func newPlay(t *testing.T, statements ...string) *play {
	t.Helper()
	return playOn(t, pgtest.Database(t), statements...)
}

// playOn is newPlay in a database that there is.
func playOn(t *testing.T, database string, statements ...string) *play {
	t.Helper()
	database, err := withTimeout(database)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	p := &play{t: t, pool: pgtest.Pool(t, database), conn: conn}
	p.do(statements...)
	return p
}

// withTimeout returns the URL with a limit for the time of statements, so that a call that waits for another fails.
func withTimeout(database string) (string, error) {
	parsed, err := url.Parse(database)
	if err != nil {
		return "", err
	}
	query := parsed.Query()
	query.Set("statement_timeout", "30s")
	parsed.RawQuery = query.Encode()
	return parsed.String(), nil
}

// schema puts the name of the schema into a statement.
func schema(sql string) string { return strings.ReplaceAll(sql, "gw.", "graphile_worker.") }

// do makes calls, each in a transaction of its own.
func (p *play) do(statements ...string) {
	p.t.Helper()
	for _, statement := range statements {
		pgtest.Exec(p.t, p.pool, schema(statement))
	}
}

// refused makes a call and returns the code of its error, or nothing.
func (p *play) refused(sql string) string {
	p.t.Helper()
	_, err := p.pool.Exec(p.t.Context(), schema(sql))
	return codeOf(err)
}

// begin makes calls in a transaction, which ends with the test if it does not end before.
func (p *play) begin(options pgx.TxOptions, statements ...string) pgx.Tx {
	p.t.Helper()
	conn, err := pgx.Connect(p.t.Context(), p.conn.Config().ConnString())
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(p.t.Context())) })
	tx, err := conn.BeginTx(p.t.Context(), options)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, statement := range statements {
		if _, err := tx.Exec(p.t.Context(), schema(statement)); err != nil {
			p.t.Fatalf("%s: %v", statement, err)
		}
	}
	return tx
}

func (p *play) commit(tx pgx.Tx) {
	p.t.Helper()
	if err := tx.Commit(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

// one makes one claim; tasks nil: of all tasks.
func (p *play) one(worker string, batch int, tasks ...string) []job {
	p.t.Helper()
	rows, err := p.conn.Query(p.t.Context(), schema(`
		select b.id, $1, b.task_identifier, b.payload::text, b.queue_name, b.lease, b.flags::text, b.attempts
		  from gw.get_job_batch($1, $2, $3) as b
		 order by b.priority, b.run_at, b.id`), worker, tasks, batch)
	if err != nil {
		p.t.Fatal(err)
	}
	jobs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (j job, err error) {
		return j, row.Scan(&j.id, &j.worker, &j.task, &j.payload, &j.queue, &j.lease, &j.flags, &j.attempts)
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return jobs
}

// claim claims as a worker does: it claims again while nothing comes and the worker is told to search again within 100
// ms.
func (p *play) claim(worker string, batch int, tasks ...string) []job {
	p.t.Helper()
	for range 200 {
		if jobs := p.one(worker, batch, tasks...); len(jobs) > 0 {
			return jobs
		}
		var in *float64
		err := p.conn.QueryRow(p.t.Context(), schema("select extract(epoch from gw.next_run_at($1) - clock_timestamp())::float8"), tasks).Scan(&in)
		if err != nil {
			p.t.Fatal(err)
		}
		if in == nil || *in > 0.1 {
			return nil
		}
		if *in > 0 {
			time.Sleep(time.Duration(*in * float64(time.Second)))
		}
	}
	return nil
}

// all claims until nothing comes any more.
func (p *play) all(worker string, tasks ...string) (jobs []job) {
	p.t.Helper()
	for {
		more := p.claim(worker, 3, tasks...)
		if len(more) == 0 {
			return jobs
		}
		jobs = append(jobs, more...)
	}
}

// drain claims and completes until nothing comes any more, and returns the jobs.
func (p *play) drain(worker string, tasks ...string) (jobs []job) {
	p.t.Helper()
	for {
		more := p.claim(worker, 3, tasks...)
		if len(more) == 0 {
			return jobs
		}
		p.complete(more...)
		jobs = append(jobs, more...)
	}
}

func (p *play) complete(jobs ...job) {
	p.t.Helper()
	for _, j := range jobs {
		pgtest.Exec(p.t, p.pool, schema("select gw.complete_job($1, $2, $3)"), j.worker, j.id, j.lease)
	}
}

// end makes a call for each job, with its worker, id and lease as $1, $2 and $3.
func (p *play) end(sql string, jobs ...job) {
	p.t.Helper()
	for _, j := range jobs {
		pgtest.Exec(p.t, p.pool, schema(sql), j.worker, j.id, j.lease)
	}
}

// beats makes heartbeats of a worker, each repeated while it asks for that.
func (p *play) beats(count int) {
	p.t.Helper()
	p.do("select gw.register_worker('keeper')")
	for range count {
		for n := 1; !pgtest.Value[bool](p.t, p.pool,
			schema("select next_in > interval '0' from gw.heartbeat('keeper')")); n++ {
			if n == 20 {
				p.t.Fatal("20 heartbeats ask for another at once")
			}
		}
	}
}

// wants fails the test unless these payloads have been claimed, in any order.
func (p *play) wants(what string, jobs []job, payloads ...string) {
	p.t.Helper()
	got := payloadsOf(jobs)
	slices.Sort(got)
	slices.Sort(payloads)
	if !slices.Equal(got, payloads) {
		p.t.Errorf("%s: claimed are %q, want %q\n%s", what, got, payloads, p.left())
	}
}

// count fails the test unless so many jobs have been claimed.
func (p *play) count(what string, jobs []job, want int) {
	p.t.Helper()
	if len(jobs) != want {
		p.t.Errorf("%s: %d jobs are claimed, want %d\n%s", what, len(jobs), want, p.left())
	}
}

// left describes the jobs that are left, and what why says of them.
func (p *play) left() string {
	rows, err := p.pool.Query(p.t.Context(), schema(`
		select format('%s %s queue %s job_queue_id %s locked_by %s: ', j.id, j.payload, v.queue_name, j.job_queue_id, j.locked_by)
		  from gw._private_jobs as j join gw.jobs as v on v.id = j.id order by j.id limit 12`))
	if err != nil {
		return err.Error()
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err.Error()
	}
	for n, line := range lines {
		var id int64
		var why *string
		_, _ = fmt.Sscan(line, &id)
		if err := p.pool.QueryRow(p.t.Context(),
			schema("select string_agg(w.reason || ': ' || w.detail, '; ') from gw.why($1) as w"),
			id).Scan(&why); err != nil {
			lines[n] += err.Error()
		} else if why != nil {
			lines[n] += *why
		}
	}
	return strings.Join(lines, "\n")
}

func payloadsOf(jobs []job) (payloads []string) {
	for _, j := range jobs {
		payloads = append(payloads, j.payload)
	}
	return payloads
}

// codeOf returns the SQLSTATE of an error, or nothing.
func codeOf(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code
	} else if err != nil {
		return err.Error()
	}
	return ""
}
