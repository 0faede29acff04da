package task

import (
	"context"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/shim"
)

// statement is a statement with its parameters in text format.
type statement struct {
	sql  string
	args [][]byte
}

// pipeline is a list of statements that are sent in one round trip.
type pipeline []statement

func (p *pipeline) add(sql string, args ...[]byte) {
	*p = append(*p, statement{sql, args})
}

// begin adds the statements that begin a transaction whose statements have a time limit.
func (p *pipeline) begin(timeout time.Duration) {
	p.add("begin")
	p.add(bound(timeout))
}

// complete adds the completion of jobs.
func (p *pipeline) complete(c *shim.Completion) {
	args := make([][]byte, len(c.Args))
	for i, arg := range c.Args {
		if text, isText := arg.(string); isText {
			args[i] = []byte(text)
		}
	}
	p.add(c.SQL, args...)
}

// send runs the statements in order, up to the first that fails, and returns the number of those that succeeded. They take one
// round trip, except in the simple protocol, which cannot do that.
func (p pipeline) send(ctx context.Context, conn *pgx.Conn) (done int, err error) {
	mode := conn.Config().DefaultQueryExecMode
	if mode == pgx.QueryExecModeSimpleProtocol {
		return p.sendEach(ctx, conn)
	}
	var batch pgconn.Batch
	var known preparedStatements
	for _, s := range p {
		if mode != pgx.QueryExecModeCacheStatement {
			batch.ExecParams(s.sql, s.args, nil, nil, nil)
			continue
		}
		prepared, err := known.get(ctx, conn, s.sql)
		if err != nil {
			return 0, err
		}
		batch.ExecStatement(prepared, s.args, nil, nil)
	}
	results := conn.PgConn().ExecBatch(ctx, &batch)
	for results.NextResult() {
		if _, err := results.ResultReader().Close(); err == nil {
			done++
		}
	}
	err = results.Close()
	if sqlstate.Of(err) == "26000" {
		_ = conn.Close(ctx) // the server has forgotten what we have prepared: we cannot use the connection any more
	}
	return done, err
}

// preparedStatements caches the few different statements of a pipeline, because a search here costs less than asking the
// connection, which prepares each statement once.
type preparedStatements []*pgconn.StatementDescription

func (p *preparedStatements) get(ctx context.Context, conn *pgx.Conn, sql string) (*pgconn.StatementDescription, error) {
	for _, prepared := range *p {
		if prepared.SQL == sql {
			return prepared, nil
		}
	}
	prepared, err := conn.Prepare(ctx, statementName(sql), sql)
	if err == nil {
		*p = append(*p, prepared)
	}
	return prepared, err
}

// statementName returns the name of a prepared statement. The name is short, because it is sent with each call.
func statementName(sql string) string {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(sql)) // never fails
	return "gw_" + strconv.FormatUint(hash.Sum64(), 36)
}

func (p pipeline) sendEach(ctx context.Context, conn *pgx.Conn) (done int, err error) {
	for _, s := range p {
		args := make([]any, len(s.args))
		for i, arg := range s.args {
			if arg != nil {
				args[i] = string(arg)
			}
		}
		if _, err := conn.Exec(ctx, s.sql, args...); err != nil {
			return done, err
		}
		done++
	}
	return done, nil
}

// isAnswer reports whether an error is the server's answer to a statement, so that the connection remains usable. After any
// other error it is not known what the server has done.
func isAnswer(conn *pgx.Conn, err error) bool {
	return sqlstate.Of(err) != "" && !conn.IsClosed()
}

// rollBack ends a transaction that has failed.
func rollBack(ctx context.Context, conn *pgx.Conn) error {
	if conn.PgConn().TxStatus() == 'I' {
		return nil
	}
	_, err := pipeline{{sql: "rollback"}}.send(ctx, conn)
	return err
}
