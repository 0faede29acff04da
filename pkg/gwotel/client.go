package gwotel

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/gwsql/gw/internal/guard"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/shim"
)

// Client is a [shim.Client] that creates a span for each call that adds jobs. If its inner client has a propagator, the
// trace is stored with the jobs.
type Client struct {
	*shim.Client
	tracer trace.Tracer
}

// NewClient returns a client that wraps another one. It ignores Config.NewTraces, which applies to workers.
func NewClient(client *shim.Client, cfg Config) *Client {
	return &Client{Client: client, tracer: cfg.tracer()}
}

// With is [shim.Client.With].
func (c *Client) With(db shim.DB) *Client {
	return &Client{Client: c.Client.With(db), tracer: c.tracer}
}

// WithSQL is [shim.Client.WithSQL].
func (c *Client) WithSQL(db shim.SQLDB) *Client {
	return &Client{Client: c.Client.WithSQL(db), tracer: c.tracer}
}

// Add is [shim.Client.Add] within a span "send <task>".
func (c *Client) Add(ctx context.Context, task string, payload any, opts *shim.AddOptions) (*shim.JobInfo, error) {
	return c.sendOne(ctx, c.Client.Add, task, payload, opts)
}

// AddBatch is [shim.Client.AddBatch] within a span "send <task>".
func (c *Client) AddBatch(ctx context.Context, task string, items any, opts *shim.AddOptions) (*shim.JobInfo, error) {
	return c.sendOne(ctx, c.Client.AddBatch, task, items, opts)
}

// AddMany is [shim.Client.AddMany] within one span for all, "send <task>", or "send" if there are several tasks.
func (c *Client) AddMany(ctx context.Context, specs []shim.JobSpec) ([]*shim.JobInfo, error) {
	if len(specs) == 0 {
		return c.Client.AddMany(ctx, specs)
	}
	task := specs[0].Task
	for _, spec := range specs {
		if spec.Task != task {
			task = ""
		}
	}
	ctx, span := c.start(ctx, task)
	defer span.End()
	span.SetAttributes(attribute.Int("messaging.batch.message_count", len(specs)))
	jobs, err := c.Client.AddMany(ctx, specs)
	note(span, err)
	return jobs, err
}

type addFunc func(ctx context.Context, task string, payload any, opts *shim.AddOptions) (*shim.JobInfo, error)

func (c *Client) sendOne(
	ctx context.Context, add addFunc, task string, payload any, opts *shim.AddOptions,
) (*shim.JobInfo, error) {
	ctx, span := c.start(ctx, task)
	defer span.End()
	if opts != nil && opts.QueueName != "" {
		span.SetAttributes(attribute.String("gw.job.queue_name", opts.QueueName))
	}
	job, err := add(ctx, task, payload, opts)
	note(span, err)
	if err == nil {
		span.SetAttributes(messageID(job.ID), attribute.Int("gw.job.revision", job.Revision))
	}
	return job, err
}

func (c *Client) start(ctx context.Context, task string) (context.Context, trace.Span) {
	name := "send"
	if task != "" {
		name += " " + task
	}
	return c.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindProducer),
		trace.WithAttributes(messaging("send", task)...))
}

// note records err in a span, if it is not nil.
func note(span trace.Span, err error) {
	if err != nil {
		_ = guard.Call(func() { span.RecordError(err) })
		span.SetStatus(codes.Error, guard.Text(err))
		span.SetAttributes(errorType(err))
	}
}

// errorType returns the attribute error.type, which has few values: the SQLSTATE of an error of the database, otherwise
// the type of the innermost error.
func errorType(err error) attribute.KeyValue {
	if code := guard.Ask("", func() string { return sqlstate.Of(err) }); code != "" {
		return attribute.String("error.type", code)
	}
	innermost := func() error {
		inner := err
		for next := errors.Unwrap(inner); next != nil; next = errors.Unwrap(inner) {
			inner = next
		}
		return inner
	}
	return attribute.String("error.type", fmt.Sprintf("%T", guard.Ask(err, innermost)))
}
