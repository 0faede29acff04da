package rows

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/storable"
)

// Database is a handle of any driver. Arguments are strings, numbers and nil, and every parameter is cast, so
// that they mean the same to each driver and in each of pgx's query modes.
type Database interface {
	// Each runs a statement and calls fn for every row; fn's argument scans the row.
	Each(ctx context.Context, fn func(scan func(...any) error) error, sql string, args ...any) error
}

// askEncoding returns the encoding of the database. Texts with characters that it may lack are sent after it is known.
const askEncoding = "select pg_catalog.getdatabaseencoding()::pg_catalog.text"

type pgxDB interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// OfPgx returns a handle of pgx.
func OfPgx(db pgxDB) Database { return pgxDatabase{db} }

type pgxDatabase struct{ db pgxDB }

// PoolOf returns the pool of a handle, nil without one.
func PoolOf(db Database) *pgxpool.Pool {
	of, _ := db.(pgxDatabase)
	pool, _ := of.db.(*pgxpool.Pool)
	return pool
}

// Each implements [Database].
func (d pgxDatabase) Each(ctx context.Context, fn func(scan func(...any) error) error, sql string, args ...any) error {
	db := d.db
	if pool, ok := db.(*pgxpool.Pool); ok {
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer conn.Release()
		db = conn
	}
	if err := checkEncoding(db); err != nil {
		return err
	}
	args, err := storable.Args(args, func() (encoding string, err error) {
		found, err := db.Query(ctx, askEncoding)
		if err != nil {
			return "", err
		}
		defer found.Close()
		err = Each(found, func(scan func(...any) error) error { return scan(&encoding) })
		return encoding, err
	})
	if err != nil {
		return err
	}
	found, err := db.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	defer found.Close()
	return Each(found, fn)
}

// checkEncoding refuses a connection on which the server would misread the UTF-8 that Go sends. SQL_ASCII passes bytes
// unchanged. A connection that does not report its encoding is accepted.
func checkEncoding(db pgxDB) error {
	conn, ok := db.(*pgx.Conn)
	if holder, holds := db.(interface{ Conn() *pgx.Conn }); holds {
		conn, ok = holder.Conn(), true
	}
	if !ok || conn == nil {
		return nil
	}
	if encoding := conn.PgConn().ParameterStatus("client_encoding"); encoding != "" && encoding != "UTF8" &&
		encoding != "SQL_ASCII" {
		return fmt.Errorf("the connection's client_encoding is %s: set it to UTF8, as by RuntimeParams of the pool's ConnConfig or "+
			"client_encoding=UTF8 in the connection string, or open the pool by Open", encoding)
	}
	return nil
}

type sqlDB interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// OfSQL returns a handle of database/sql.
func OfSQL(db sqlDB) Database { return sqlDatabase{db} }

type sqlDatabase struct{ db sqlDB }

// Each implements [Database].
func (d sqlDatabase) Each(ctx context.Context, fn func(scan func(...any) error) error, sql string,
	args ...any) (err error) {
	args, err = storable.Args(args, func() (encoding string, err error) {
		err = d.Each(ctx, func(scan func(...any) error) error { return scan(&encoding) }, askEncoding)
		return encoding, err
	})
	if err != nil {
		return err
	}
	found, err := d.db.QueryContext(ctx, sql, args...)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := found.Close(); err == nil {
			err = closeErr
		}
	}()
	return Each(found, fn)
}
