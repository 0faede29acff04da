package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// A database is a fresh copy of a contender's template, with a session to prepare it and to look at it.
type database struct {
	contender contender
	server    *server
	name      string
	admin     *pgx.Conn
}

// copyOf makes a database for a contender.
func (s *server) copyOf(ctx context.Context, c contender) (*database, error) {
	s.made++
	db := &database{contender: c, server: s, name: fmt.Sprintf("bench_%d", s.made)}
	if _, err := s.exec(ctx, "create database "+db.name+" template "+c.template); err != nil {
		return nil, err
	}
	var err error
	db.admin, err = s.connect(ctx, db.name)
	return db, err
}

// drop removes the database. Sessions that are still open are ended.
func (db *database) drop(ctx context.Context) error {
	err := db.admin.Close(ctx)
	_, dropErr := db.server.exec(ctx, "drop database "+db.name+" with (force)")
	return errors.Join(err, dropErr)
}

// A session works jobs of a database.
type session struct {
	worker
	conn *pgx.Conn
}

// session opens a connection and lets the contender prepare it.
func (db *database) session(ctx context.Context) (*session, error) {
	conn, err := db.server.connect(ctx, db.name)
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

// run runs statements without parameters, one after the other, each for itself.
func (db *database) run(ctx context.Context, sqls ...string) error {
	for _, sql := range sqls {
		if _, err := db.admin.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// tidy runs a command such as vacuum on the tables of the schema, whichever they are.
func (db *database) tidy(ctx context.Context, command string) error {
	var tables string
	err := db.admin.QueryRow(ctx, "select string_agg(c.oid::regclass::text, ', ') from pg_class as c "+
		"where c.relnamespace = $1::regnamespace and c.relkind = 'r'", schema).Scan(&tables)
	if err != nil {
		return fmt.Errorf("list the tables: %w", err)
	}
	return db.run(ctx, command+" "+tables)
}

// settle runs statements that fill the tables and leaves nothing of that to do while something is measured.
func (db *database) settle(ctx context.Context, sqls ...string) error {
	if err := db.run(ctx, sqls...); err != nil {
		return err
	}
	if err := db.tidy(ctx, "vacuum (analyze)"); err != nil {
		return err
	}
	return db.run(ctx, "checkpoint")
}

// walPosition returns how many bytes of WAL have been written so far.
func (db *database) walPosition(ctx context.Context) (position int64, err error) {
	err = db.admin.QueryRow(ctx, "select pg_current_wal_insert_lsn() - '0/0'::pg_lsn").Scan(&position)
	if err != nil {
		return 0, fmt.Errorf("ask for the WAL's position: %w", err)
	}
	return position, nil
}
