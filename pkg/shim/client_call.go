package shim

import (
	"context"
	"errors"
	"fmt"

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

// first returns the first row of a statement, nil without one.
func first[T any](ctx context.Context, c *Client, columns func(*T) []any, sql string, args ...any) (*T, error) {
	list, err := listed(ctx, c, columns, sql, args...)
	if len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// single returns the only value of a statement.
func single[T any](ctx context.Context, c *Client, sql string, args ...any) (value T, err error) {
	err = c.each(ctx, func(scan func(...any) error) error { return scan(&value) }, sql, args...)
	return value, err
}

// order calls a function whose result is not needed.
func (c *Client) order(ctx context.Context, sql string, args ...any) error {
	_, err := single[*string](ctx, c, sql, args...)
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
