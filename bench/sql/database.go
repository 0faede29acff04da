package main

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/bench/internal/server"
)

// A database is a new copy of a contender's template.
type database struct {
	*server.Database
	contender contender
}

// copyOf creates a database for a contender.
func (b *bench) copyOf(ctx context.Context, c contender) (*database, error) {
	db, err := b.Copy(ctx, c.template)
	return &database{Database: db, contender: c}, err
}

// A session runs jobs of a database.
type session struct {
	worker
	conn *pgx.Conn
}

// session opens a connection and lets the contender prepare it.
func (db *database) session(ctx context.Context) (*session, error) {
	conn, err := db.Connect(ctx)
	if err != nil {
		return nil, err
	}
	w, err := db.contender.work(ctx, conn)
	if err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return &session{worker: w, conn: conn}, nil
}

func (s *session) close(ctx context.Context) error { return s.conn.Close(ctx) }
