package task_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
)

// cutConn is a connection to the server that breaks once: when the whole answer to a call of the function has arrived, and
// before it is read.
type cutConn struct {
	net.Conn
	armed chan struct{} // holds a token as long as none has broken
	cut   atomic.Bool
}

func (c *cutConn) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(`"n"`)) {
		select {
		case <-c.armed:
			c.cut.Store(true)
		default:
		}
	}
	return c.Conn.Write(p)
}

func (c *cutConn) Read(p []byte) (int, error) {
	if !c.cut.Load() {
		return c.Conn.Read(p)
	}
	const readyForQuery = "Z\x00\x00\x00\x05"
	var answer []byte
	for len(answer) < len(readyForQuery)+1 || !bytes.HasSuffix(answer[:len(answer)-1], []byte(readyForQuery)) { // and a status
		n, err := c.Conn.Read(p)
		if err != nil {
			return 0, err
		}
		answer = append(answer, p[:n]...)
	}
	_ = c.Conn.Close()
	return 0, errors.New("cut")
}

func TestWhatWasCommittedBehindABrokenConnectionIsNotDoneAgain(t *testing.T) {
	eachMode(t, func(t *testing.T, s *shop, sql task.SQL) {
		pgtest.Exec(t, s.pool, `create unique index if not exists effects_n on app.effects (n)`)
		config, err := pgxpool.ParseConfig(s.url)
		if err != nil {
			t.Fatal(err)
		}
		armed := make(chan struct{}, 1)
		armed <- struct{}{}
		dial := config.ConnConfig.DialFunc
		config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			return &cutConn{Conn: conn, armed: armed}, err
		}
		pool, err := pgxpool.NewWithConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		s.add("", "", "")
		s.groupOn(pool, sql, nil)
		if len(armed) > 0 {
			t.Fatal("no connection broke")
		}
		want(t, "effects", s.effects(), "1 2 3")
		want(t, "jobs left", s.left(), "")
		want(t, "outcomes", s.outcomes, "completed completed completed")
	})
}
