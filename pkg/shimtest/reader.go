package shimtest

import (
	"context"

	"github.com/gwsql/gw/internal/rows"
	"github.com/gwsql/gw/pkg/shim"
)

// reader is a database handle of pgx or of database/sql.
type reader interface {
	each(ctx context.Context, fn func(scan func(...any) error) error, sql string) error
	client(shim.ClientConfig) *shim.Client
}

type pgxReader struct{ db shim.DB }

func (r pgxReader) client(cfg shim.ClientConfig) *shim.Client { return shim.NewClient(r.db, cfg) }

func (r pgxReader) each(ctx context.Context, fn func(scan func(...any) error) error, sql string) error {
	found, err := r.db.Query(ctx, sql)
	if err != nil {
		return err
	}
	defer found.Close()
	return rows.Each(found, fn)
}

type sqlReader struct{ db shim.SQLDB }

func (r sqlReader) client(cfg shim.ClientConfig) *shim.Client { return shim.NewSQLClient(r.db, cfg) }

func (r sqlReader) each(ctx context.Context, fn func(scan func(...any) error) error, sql string) error {
	found, err := r.db.QueryContext(ctx, sql)
	if err != nil {
		return err
	}
	defer found.Close()
	return rows.Each(found, fn)
}
