package history

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// session is one connection that makes calls one after the other and records them. A killer may end the connection at
// any time; the session then opens another.
type session struct {
	*rand.Rand
	run          *run
	number       int
	serializable bool
	mortal       bool // killers may end its connection
	conn         *pgconn.PgConn
	prepared     map[string]string // names of statements, by their text
	events       []*event
}

func (r *run) session(ctx context.Context, number int) (*session, error) {
	s := &session{
		Rand: rand.New(rand.NewPCG(r.seed, uint64(number))), run: r, number: number, serializable: number%8 == 3,
	}
	return s, s.connect(ctx)
}

func (s *session) connect(ctx context.Context) error {
	config, err := pgconn.ParseConfig(s.run.url)
	if err != nil {
		return fmt.Errorf("read the database's URL: %w", err)
	}
	if s.serializable {
		config.RuntimeParams["default_transaction_isolation"] = "serializable"
	}
	config.RuntimeParams["statement_timeout"] = "60s"
	s.prepared = map[string]string{}
	s.conn, err = pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("open a session: %w", err)
	}
	return nil
}

func (s *session) close() {
	if s.conn != nil {
		_ = s.conn.Close(context.Background())
	}
}

// statement is one statement of a call.
type statement struct {
	sql  string
	args []any
}

// It also resets the claim cursor: with a cursor, a job in front of it may wait a little, which is tested elsewhere, so
// that the order could not be checked.
const clock = `
	select (extract(epoch from clock_timestamp()) * 1000000)::bigint
	 where set_config('gw.claim_cursor', '', false) = ''`

// record makes a call in one transaction, records its times and its code in e, and returns the rows of the first
// statement. An error is an error of the test, not of the call. The clock is read in separate transactions before and
// after.
func (s *session) record(ctx context.Context, e *event, statements ...statement) ([][][]byte, error) {
	e.session, e.number = s.number, len(s.events)+1
	e.serializable = s.serializable
	s.events = append(s.events, e)
	s.run.count(e.kind)

	tick := statement{sql: clock}
	if err := s.prepare(ctx, append([]statement{tick}, statements...)); err != nil {
		return nil, s.lost(ctx, e, err)
	}
	if s.mortal && s.IntN(s.run.profile.killEvery) == 0 {
		s.run.victims <- s.conn.PID()
	}
	p := s.conn.StartPipeline(ctx)
	s.send(p, tick)
	p.SendPipelineSync()
	for _, each := range statements {
		s.send(p, each)
	}
	p.SendPipelineSync()
	s.send(p, tick)
	err := p.Sync()
	var results []result
	if err == nil {
		results, err = read(p, 3)
	}
	if closing := p.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, s.lost(ctx, e, err)
	}
	if e.start, err = ticked(results[0]); err == nil {
		e.end, err = ticked(results[2])
	}
	if err != nil {
		return nil, s.lost(ctx, e, err)
	}
	e.code, e.detail = results[1].code, results[1].detail
	s.run.countCode(e.code)
	return results[1].rows, nil
}

func (s *session) send(p *pgconn.Pipeline, each statement) {
	args := make([][]byte, len(each.args))
	for i, arg := range each.args {
		args[i] = text(arg)
	}
	p.SendQueryPrepared(s.prepared[each.sql], args, nil, nil)
}

func (s *session) prepare(ctx context.Context, statements []statement) error {
	for _, each := range statements {
		if s.prepared[each.sql] != "" {
			continue
		}
		name := fmt.Sprintf("s%d", len(s.prepared))
		if _, err := s.conn.Prepare(ctx, name, each.sql, nil); err != nil {
			return err
		}
		s.prepared[each.sql] = name
	}
	return nil
}

// result is the answer of one transaction of a pipeline.
type result struct {
	rows         [][][]byte // of its first statement
	code, detail string
}

// read returns the results of this many transactions.
func read(p *pgconn.Pipeline, transactions int) ([]result, error) {
	results := make([]result, transactions)
	for i := range results {
		for statements := 0; ; {
			next, err := p.GetResults()
			var refusal *pgconn.PgError
			if errors.As(err, &refusal) && refusal.Code != killedCode {
				results[i].code, results[i].detail = refusal.Code, strings.TrimSpace(refusal.Detail+" "+refusal.Where)
				continue
			}
			if err != nil {
				return nil, err
			}
			if reader, isRows := next.(*pgconn.ResultReader); isRows {
				answer := reader.Read()
				if errors.As(answer.Err, &refusal) && refusal.Code != killedCode {
					results[i].code, results[i].detail = refusal.Code,
						strings.TrimSpace(refusal.Detail+" "+refusal.Where)
				} else if answer.Err != nil {
					return nil, answer.Err
				}
				if statements == 0 {
					results[i].rows = answer.Rows
				}
				statements++
				continue
			}
			if _, isSync := next.(*pgconn.PipelineSync); isSync {
				break
			}
			return nil, fmt.Errorf("unexpected answer in a pipeline: %T", next)
		}
	}
	return results, nil
}

func ticked(r result) (micros, error) {
	if len(r.rows) != 1 {
		return 0, fmt.Errorf("read the clock: SQLSTATE %s", r.code)
	}
	t, err := strconv.ParseInt(string(r.rows[0][0]), 10, 64)
	return micros(t), err
}

var errNotKilled = errors.New("a session ended though nobody killed it")

// lost records a call whose connection ended, and opens another connection when the backend of the first has ended:
// then the call has no further effects.
func (s *session) lost(ctx context.Context, e *event, cause error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !s.mortal || !s.conn.IsClosed() && !killed(cause) {
		return fmt.Errorf("%w: %w: %s", errNotKilled, cause, e)
	}
	pid := s.conn.PID()
	s.close()
	s.run.countCode(unknown)
	e.code = unknown
	if err := s.connect(ctx); err != nil {
		return err
	}
	for {
		rows, err := s.query(ctx, "select count(*) from pg_stat_activity where pid = $1", pid)
		if err != nil {
			return err
		}
		if string(rows[0][0]) == "0" {
			break
		}
	}
	var err error
	if e.start == 0 && len(s.events) > 1 {
		e.start = s.events[len(s.events)-2].end
	}
	e.end, err = s.now(ctx)
	return err
}

// killedCode is the SQLSTATE of a session that pg_terminate_backend ended.
const killedCode = "57P01"

// killed reports whether an error is that of a killed connection.
func killed(err error) bool {
	var refusal *pgconn.PgError
	return !errors.As(err, &refusal) || refusal.Code == killedCode
}

// query returns the rows of a statement that is not recorded. If the session is killed, query tries again.
func (s *session) query(ctx context.Context, sql string, args ...any) ([][][]byte, error) {
	for {
		values := make([][]byte, len(args))
		for i, arg := range args {
			values[i] = text(arg)
		}
		answer := s.conn.ExecParams(ctx, sql, values, nil, nil, nil).Read()
		if answer.Err == nil {
			return answer.Rows, nil
		}
		if ctx.Err() != nil || !s.mortal || !s.conn.IsClosed() && !killed(answer.Err) {
			return nil, fmt.Errorf("%s: %w", sql, answer.Err)
		}
		s.close()
		if err := s.connect(ctx); err != nil {
			return nil, err
		}
	}
}

func (s *session) now(ctx context.Context) (micros, error) {
	rows, err := s.query(ctx, clock)
	if err != nil {
		return 0, err
	}
	return ticked(result{rows: rows})
}

// odds returns true once in n times.
func (s *session) odds(n int) bool { return s.IntN(n) == 0 }

func pick[T any](s *session, from []T) T { return from[s.IntN(len(from))] }

// text returns an argument in PostgreSQL's text format.
func text(arg any) []byte {
	switch v := arg.(type) {
	case nil:
		return nil
	case string:
		return []byte(v)
	case []string:
		if v == nil {
			return nil
		}
		return array(v, func(s string) string { return strconv.Quote(s) })
	case []int64:
		return array(v, func(n int64) string { return strconv.FormatInt(n, 10) })
	case time.Duration:
		return []byte(fmt.Sprintf("%f seconds", v.Seconds()))
	}
	return fmt.Append(nil, arg)
}

func array[T any](values []T, of func(T) string) []byte {
	b := []byte{'{'}
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, of(v)...)
	}
	return append(b, '}')
}
