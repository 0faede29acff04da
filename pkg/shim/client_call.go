package shim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/internal/statement"
)

var errNoDatabase = errors.New("the client has no database")

// each runs a statement and calls fn for every row; fn's argument scans the row. S in sql stands for the schema.
func (c *Client) each(ctx context.Context, fn func(scan func(...any) error) error, sql string, args ...any) error {
	if c.db == nil {
		return errNoDatabase
	}
	return c.explained(c.db.Each(ctx, fn, statement.In(c.schema, sql), args...))
}

// listed returns the rows of a statement; columns returns where the values of a row go.
func listed[T any](ctx context.Context, c *Client, columns func(*T) []any, sql string, args ...any) ([]T, error) {
	var list []T
	err := c.each(ctx, func(scan func(...any) error) error {
		var row T
		err := scan(columns(&row)...)
		list = append(list, row)
		return err
	}, sql, args...)
	if err != nil {
		return nil, err
	}
	return list, nil
}

// firstRow returns the first row of a statement, nil without one.
func firstRow[T any](ctx context.Context, c *Client, columns func(*T) []any, sql string, args ...any) (*T, error) {
	list, err := listed(ctx, c, columns, sql, args...)
	if len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// singleValue returns the only value of a statement.
func singleValue[T any](ctx context.Context, c *Client, sql string, args ...any) (value T, err error) {
	err = c.each(ctx, func(scan func(...any) error) error { return scan(&value) }, sql, args...)
	return value, err
}

// order calls a function whose result is not needed.
func (c *Client) order(ctx context.Context, sql string, args ...any) error {
	_, err := singleValue[*string](ctx, c, sql, args...)
	return err
}

// all returns the jobs of a statement.
func (c *Client) all(ctx context.Context, sql string, args ...any) ([]*JobInfo, error) {
	var jobs []*JobInfo
	err := c.each(ctx, func(scan func(...any) error) error {
		job := &JobInfo{}
		jobs = append(jobs, job)
		return scan(job.columns()...)
	}, sql, args...)
	if err != nil {
		return nil, err
	}
	return jobs, nil
}

// one returns the only job of a statement.
func (c *Client) one(ctx context.Context, sql string, args ...any) (*JobInfo, error) {
	jobs, err := c.all(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, ErrJobNotFound
	}
	return jobs[0], nil
}

// during adds to an error what it has prevented; the error may be nil.
func during(err error, what string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(what, args...), err)
}

// mayBeForRoles reports whether the client's schema may be one for roles. If so, enqueue determines whether it is, and
// sets isQueue if it is not.
func (c *Client) mayBeForRoles() bool {
	return strings.HasSuffix(c.cfg.Schema, rolesSuffix) && !c.isQueue.Load()
}

// The errors of a [Client].
var (
	// ErrJobNotFound is returned by [Client.Job], [Client.JobByKey] and [Client.Remove] if there is no such job. A
	// completed job has no row.
	ErrJobNotFound = errors.New("job not found")

	// ErrNotGranted is matched by the errors of a [Client] in the schema for roles (see [ClientConfig]) for calls that
	// gw-migrate grants has not granted to its role.
	ErrNotGranted = errors.New("not granted")

	// ErrEmptyBatch is returned by [Client.AddBatch] for an empty list, because its job would have nothing to do.
	ErrEmptyBatch = errors.New("empty batch")
)

// explained adds a remedy to errors whose text has none. [errors.As] still finds the original error.
func (c *Client) explained(err error) error {
	state := sqlstate.Of(err)
	if strings.HasSuffix(c.cfg.Schema, rolesSuffix) && slices.Contains([]string{"42501", "42883", "42P01"}, state) {
		return fmt.Errorf("%w to this role by gw-migrate grants: %w", ErrNotGranted, err)
	}
	switch sqlstate.ClassOf(state) {
	case sqlstate.NotFound:
		return fmt.Errorf("%w: is the queue installed in the schema %q, and up to date? gw-migrate installs and upgrades it",
			err, c.cfg.Schema)
	case sqlstate.NotGranted:
		return fmt.Errorf("%w: only the role that installed the queue may use it", err)
	}
	return err
}
