package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// patience is the maximum time of Wait.
const patience = time.Minute

// A Database is a new copy of a template.
type Database struct {
	Server *Server
	Name   string

	// Admin is a session for preparing and inspecting the database.
	Admin *pgx.Conn
}

// Copy creates a database from a template.
func (s *Server) Copy(ctx context.Context, template string) (*Database, error) {
	s.made++
	db := &Database{Server: s, Name: fmt.Sprintf("bench_%d", s.made)}
	if _, err := s.Exec(ctx, "create database "+db.Name+" template "+template); err != nil {
		return nil, err
	}
	var err error
	db.Admin, err = s.Connect(ctx, db.Name)
	return db, err
}

// Drop removes the database. Sessions that are still open are ended.
func (db *Database) Drop(ctx context.Context) error {
	err := db.Admin.Close(ctx)
	_, dropErr := db.Server.Exec(ctx, "drop database "+db.Name+" with (force)")
	return errors.Join(err, dropErr)
}

// URL returns the URL of the database.
func (db *Database) URL() string { return db.Server.URL(db.Name) }

// Connect opens another session.
func (db *Database) Connect(ctx context.Context) (*pgx.Conn, error) {
	return db.Server.Connect(ctx, db.Name)
}

// Run runs statements without parameters, one after the other, each in its own transaction.
func (db *Database) Run(ctx context.Context, sqls ...string) error {
	for _, sql := range sqls {
		if _, err := db.Admin.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// Tidy runs a command such as vacuum on every table except system tables.
func (db *Database) Tidy(ctx context.Context, command string) error {
	var tables string
	err := db.Admin.QueryRow(ctx, "select string_agg(c.oid::regclass::text, ', ') from pg_class as c "+
		"join pg_namespace as n on n.oid = c.relnamespace where c.relkind = 'r' and n.nspname !~ '^(pg_|information_schema$)'").
		Scan(&tables)
	if err != nil {
		return fmt.Errorf("list the tables: %w", err)
	}
	return db.Run(ctx, command+" "+tables)
}

// Settle runs statements that fill the tables, and then vacuum and a checkpoint, so that no such work remains for the
// measurement.
func (db *Database) Settle(ctx context.Context, sqls ...string) error {
	if err := db.Run(ctx, sqls...); err != nil {
		return err
	}
	if err := db.Tidy(ctx, "vacuum (analyze)"); err != nil {
		return err
	}
	return db.Run(ctx, "checkpoint")
}

// Wait waits until a query returns true, at most a minute.
func (db *Database) Wait(ctx context.Context, query string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		var done bool
		if err := db.Admin.QueryRow(ctx, query).Scan(&done); err != nil {
			return fmt.Errorf("wait until %s: %w", query, err)
		}
		if done {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// WALPosition returns how many bytes of WAL have been written so far.
func (db *Database) WALPosition(ctx context.Context) (position int64, err error) {
	err = db.Admin.QueryRow(ctx, "select pg_current_wal_insert_lsn() - '0/0'::pg_lsn").Scan(&position)
	if err != nil {
		return 0, fmt.Errorf("ask for the WAL's position: %w", err)
	}
	return position, nil
}
