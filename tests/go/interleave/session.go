package interleave

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/sqlstate"
)

// session is one of the sessions that are stepped. Its statements run in the background; what comes of them arrives as
// events.
type session struct {
	number   int
	conn     *pgx.Conn
	pid      uint32
	events   chan event
	turn     int    // the number of the last stop that it has reached
	at       string // the place where it waits for its turn; "" between statements
	stack    []frame
	blocked  bool      // it waits for a lock
	blockers []int32   // the server processes for which it waits
	next     int       // the statement to start next
	done     bool      // it has committed, or failed and rolled back
	written  footprint // what it may have changed or locked in its transaction
	locked   footprint // the same, without what others have done while it waited for them
	answers  []string
	begins   bool // it does its first step
	leads    bool // which only led to its first stop
}

// frame is a function that a session is in, and the stop that it has passed there.
type frame struct {
	function string
	at       stop
}

// event is that a session has reached a stop, or that its statement has ended.
type event struct {
	place  string
	answer string
	err    error
}

func newSession(ctx context.Context, url string, number int) (*session, error) {
	s := &session{number: number, events: make(chan event, 1)}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["interleave.session"] = fmt.Sprint(number)
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.Code == stopCode {
			s.events <- event{place: n.Message}
		}
	}
	if s.conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("open session %d: %w", number, err)
	}
	s.pid = s.conn.PgConn().PID()
	return s, nil
}

// start runs a statement in the background, until it ends or the connection is closed.
func (s *session) start(sql string) {
	go func() {
		answer, err := run(context.Background(), s.conn, sql)
		s.events <- event{answer: answer, err: err}
	}()
}

// run returns the rows that statements return, as text.
func run(ctx context.Context, conn *pgx.Conn, sql string) (string, error) {
	results, err := conn.PgConn().Exec(ctx, sql).ReadAll()
	var b strings.Builder
	for _, result := range results {
		for _, row := range result.Rows {
			for i, value := range row {
				if i > 0 {
					b.WriteByte('|')
				}
				b.Write(value)
			}
			b.WriteByte('\n')
		}
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return "", refused
	}
	return b.String(), err
}

// arrive records an event. A function that the session is in still runs the statement after its last stop if that
// calls the function of the new one, else one that touches nothing itself.
func (s *session) arrive(e event, stops map[string]stop, calls *callees) {
	s.blocked = false
	if e.place != "" {
		s.turn++
		s.at = e.place
		at := stops[e.place]
		for i, f := range s.stack {
			if f.function == at.function {
				s.stack = s.stack[:i]
				break
			}
		}
		for i, f := range s.stack {
			if !calls.mayCall(f.at.statement, at.function) {
				s.stack[i].at.statement = ""
			}
		}
		s.stack = append(s.stack, frame{at.function, at})
		return
	}
	s.at, s.stack = "", nil
	if e.err != nil {
		s.answers = append(s.answers, failure(e.err))
		s.done = true
		return
	}
	s.answers = append(s.answers, strings.TrimSuffix(e.answer, "\n"))
}

// failure is the answer of a call that failed.
func failure(err error) string { return "error " + cmp.Or(sqlstate.Of(err), err.Error()) }

// where says where a session is.
func (s *session) where() string {
	switch {
	case s.done:
		return "done"
	case s.blocked:
		return s.at + " waits for a lock"
	}
	return s.at
}
