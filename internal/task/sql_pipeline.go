package task

import (
	"context"
	"hash/fnv"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/shim"
)

// leaseLost is the SQLSTATE of a completion of jobs that the worker does not hold any more.
const leaseLost = "GWWLL"

// statement is a statement with its parameters, in the form of text.
type statement struct {
	sql  string
	args [][]byte
}

// pipeline are statements to send in one go.
type pipeline []statement

func (p *pipeline) add(sql string, args ...[]byte) {
	*p = append(*p, statement{sql, args})
}

// complete adds the end of jobs.
func (p *pipeline) complete(c *shim.Completion) {
	p.add(c.SQL, []byte(c.Args[0]), []byte(c.Args[1]), []byte(c.Args[2]))
}

// send runs the statements one after the other, up to the first that fails, and returns how many did not. They take one
// round trip, except in the query mode in which there is no way to do that.
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

// preparedStatements are the few that a pipeline has of many statements: to find one here costs less than to ask the
// connection, which prepares each once.
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

// statementName returns the name of a prepared statement. It is sent with each call, so it is short.
func statementName(sql string) string {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(sql)) // never fails
	return "gw_" + strconv.FormatUint(hash.Sum64(), 36)
}

func (p pipeline) sendEach(ctx context.Context, conn *pgx.Conn) (done int, err error) {
	for _, s := range p {
		args := make([]any, len(s.args))
		for i, arg := range s.args {
			args[i] = string(arg)
		}
		if _, err := conn.Exec(ctx, s.sql, args...); err != nil {
			return done, err
		}
		done++
	}
	return done, nil
}

// isAnswer reports whether an error is the server's answer to a statement, and the connection is as good as before. After
// any other error nobody knows what the server has done.
func isAnswer(conn *pgx.Conn, err error) bool {
	return sqlstate.Of(err) != "" && !conn.IsClosed()
}
