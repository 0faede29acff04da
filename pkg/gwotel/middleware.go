package gwotel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/gwsql/gw/internal/guard"
	"github.com/gwsql/gw/pkg/shim"
)

// Middleware creates a span "process <task>" around each handler, in the handler's context. If the attempt failed, the
// span has the status of an error. The attribute gw.job.requested_outcome is the outcome that the handler asked for,
// because the database decides after the span has ended. A job that snoozes or is interrupted is not an error.
func Middleware(cfg Config) shim.Middleware {
	tracer := cfg.tracer()
	return func(next shim.Handler) shim.Handler {
		return func(ctx context.Context, job *shim.Job) (err error) {
			ctx, span := tracer.Start(ctx, "process "+job.TaskIdentifier, cfg.startOptions(ctx, job)...)
			returned := false
			defer func() {
				if !returned {
					endPanicked(span, recover())
				}
			}()
			err = next(ctx, job)
			returned = true
			end(ctx, span, job, err)
			return err
		}
	}
}

func (c Config) startOptions(ctx context.Context, job *shim.Job) []trace.SpanStartOption {
	attributes := append(messaging("process", job.TaskIdentifier),
		messageID(job.ID),
		attribute.Int("gw.job.attempt", job.Attempts),
		attribute.Int("gw.job.max_attempts", job.MaxAttempts),
		attribute.Int("gw.job.priority", job.Priority),
		attribute.Int("gw.job.revision", job.Revision),
	)
	if job.QueueName != "" {
		attributes = append(attributes, attribute.String("gw.job.queue_name", job.QueueName))
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(attributes...)}
	if c.NewTraces {
		options = append(options, trace.WithNewRoot())
		if sender := trace.SpanContextFromContext(ctx); sender.IsValid() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: sender}))
		}
	}
	return options
}

func end(ctx context.Context, span trace.Span, job *shim.Job, err error) {
	defer span.End()
	outcome := shim.OutcomeOf(job, err)
	switch cause := context.Cause(ctx); {
	case guard.Is(cause, shim.ErrLeaseLost):
		outcome = shim.OutcomeLeaseLost
	case guard.Is(cause, shim.ErrCanceled) && err != nil:
		outcome = shim.OutcomePermanentlyFailed
	case guard.Is(cause, shim.ErrShutdown) && err != nil && outcome != shim.OutcomeSnoozed &&
		outcome != shim.OutcomeRateLimited:
		outcome = shim.OutcomeReturned
	}
	span.SetAttributes(attribute.String("gw.job.requested_outcome", string(outcome)))
	switch {
	case err == nil:
	case outcome == shim.OutcomeFailed, outcome == shim.OutcomePermanentlyFailed:
		note(span, err)
	default:
		span.AddEvent(guard.Text(err))
	}
}

// endPanicked ends the span of a handler that panicked with v and continues the panic. If v is nil, the handler has
// ended its goroutine.
func endPanicked(span trace.Span, v any) {
	defer span.End()
	err := errors.New("handler ended its goroutine instead of returning")
	if v != nil {
		err = errors.New("panic: " + guard.Value(v))
	}
	span.RecordError(err, trace.WithStackTrace(true))
	span.SetAttributes(attribute.String("error.type", "panic"))
	span.SetStatus(codes.Error, err.Error())
	if v != nil {
		panic(v)
	}
}
