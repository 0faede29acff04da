package gwotel_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwotel"
	"github.com/gwsql/gw/pkg/shim"
)

func want(t *testing.T, span sdk.ReadOnlySpan, attributes map[attribute.Key]string) {
	t.Helper()
	got := attributesOf(span)
	for key, value := range attributes {
		if got[key] != value {
			t.Errorf("the span %q has %s = %q, want %q", span.Name(), key, got[key], value)
		}
	}
}

func TestATraceGoesFromWhoAddsAJobToItsHandler(t *testing.T) {
	q := newTraced(t, gwotel.Config{})
	var inHandler trace.SpanContext
	q.worker.Handle("greet", func(ctx context.Context, _ *shim.Job) error {
		inHandler = trace.SpanContextFromContext(ctx)
		return nil
	})
	job, err := q.client.Add(t.Context(), "greet", map[string]string{"name": "Ada"}, &shim.AddOptions{QueueName: "hall",
		Priority: 3})
	if err != nil {
		t.Fatal(err)
	}
	if payload := pgtest.Value[string](t, q.pool,
		`select payload::text from graphile_worker._private_jobs`); payload != `{"name":"Ada"}` {
		t.Errorf("the payload became %s", payload)
	}
	q.runOnce()

	send, process := q.span("send greet"), q.span("process greet")
	if process.Parent().SpanID() != send.SpanContext().SpanID() ||
		process.SpanContext().TraceID() != send.SpanContext().TraceID() {
		t.Errorf("the handler's span is a child of %v, want %v", process.Parent(), send.SpanContext())
	}
	if inHandler.SpanID() != process.SpanContext().SpanID() {
		t.Error("the handler does not see its span")
	}
	if send.SpanKind() != trace.SpanKindProducer || process.SpanKind() != trace.SpanKindConsumer {
		t.Errorf("the spans are a %s and a %s", send.SpanKind(), process.SpanKind())
	}
	if process.Status().Code != codes.Unset {
		t.Errorf("the status is %v", process.Status())
	}
	want(t, send, map[attribute.Key]string{
		"messaging.system":           "graphile_worker",
		"messaging.operation.name":   "send",
		"messaging.operation.type":   "send",
		"messaging.destination.name": "greet",
		"messaging.message.id":       "1",
		"gw.job.queue_name":          "hall",
		"gw.job.revision":            "0",
	})
	want(t, process, map[attribute.Key]string{
		"messaging.system":           "graphile_worker",
		"messaging.operation.name":   "process",
		"messaging.operation.type":   "process",
		"messaging.destination.name": "greet",
		"messaging.message.id":       "1",
		"gw.job.queue_name":          "hall",
		"gw.job.attempt":             "1",
		"gw.job.max_attempts":        "25",
		"gw.job.priority":            "3",
		"gw.job.revision":            "0",
		"gw.job.requested_outcome":   "completed",
	})
	if job.ID != 1 {
		t.Errorf("the job is %d", job.ID)
	}
}

func TestAJobMayBeginATraceOfItsOwn(t *testing.T) {
	q := newTraced(t, gwotel.Config{NewTraces: true})
	q.worker.Handle("greet", func(context.Context, *shim.Job) error { return nil })
	if _, err := q.client.Add(t.Context(), "greet", nil, nil); err != nil {
		t.Fatal(err)
	}
	q.runOnce()
	send, process := q.span("send greet"), q.span("process greet")
	if process.Parent().IsValid() || process.SpanContext().TraceID() == send.SpanContext().TraceID() {
		t.Errorf("the handler's span belongs to the trace of its sender")
	}
	if links := process.Links(); len(links) != 1 || links[0].SpanContext.SpanID() != send.SpanContext().SpanID() {
		t.Errorf("the links are %v", links)
	}
}

func TestAJobFromElsewhereHasATraceToo(t *testing.T) {
	for name, cfg := range map[string]gwotel.Config{"child": {}, "new": {NewTraces: true}} {
		t.Run(name, func(t *testing.T) {
			q := newTraced(t, cfg)
			q.worker.Handle("greet", func(context.Context, *shim.Job) error { return nil })
			pgtest.Exec(t, q.pool, `select graphile_worker.add_job('greet')`)
			q.runOnce()
			if process := q.span("process greet"); process.Parent().IsValid() || len(process.Links()) > 0 {
				t.Errorf("its span has the parent %v and the links %v", process.Parent(), process.Links())
			}
		})
	}
}

func TestHowAHandlerEndedShowsInItsSpan(t *testing.T) {
	failure := errors.New("no such host")
	for name, c := range map[string]struct {
		returned  error
		status    codes.Code
		outcome   string
		errorType string
	}{
		"failed":    {failure, codes.Error, "failed", "*errors.errorString"},
		"discarded": {shim.Discard(failure), codes.Error, "permanently_failed", "*errors.errorString"},
		"snoozed":   {shim.Snooze(time.Hour), codes.Unset, "snoozed", ""},
	} {
		t.Run(name, func(t *testing.T) {
			q := newTraced(t, gwotel.Config{})
			q.worker.Handle("greet", func(context.Context, *shim.Job) error { return c.returned })
			if _, err := q.client.Add(t.Context(), "greet", nil, nil); err != nil {
				t.Fatal(err)
			}
			q.runOnce()
			span := q.span("process greet")
			if span.Status().Code != c.status {
				t.Errorf("the status is %v", span.Status())
			}
			if c.status == codes.Error && (span.Status().Description != failure.Error() ||
				span.Events()[0].Name != "exception") {
				t.Errorf("the span says %q and %v", span.Status().Description, span.Events())
			}
			want(t, span, map[attribute.Key]string{"gw.job.requested_outcome": c.outcome, "error.type": c.errorType})
		})
	}
}

// foreign is an error whose nil pointers cannot be printed.
type foreign struct{ text string }

func (f *foreign) Error() string { return f.text }
func (f *foreign) Unwrap() error { return errors.New(f.text) }

func TestAnErrorThatCannotBePrintedShowsInItsSpan(t *testing.T) {
	const text = "the error of type *gwotel_test.foreign cannot be printed: runtime error: invalid memory address or nil pointer dereference"
	q := newTraced(t, gwotel.Config{})
	q.worker.Handle("greet", func(context.Context, *shim.Job) error { return (*foreign)(nil) })
	pgtest.Exec(t, q.pool, `select graphile_worker.add_job('greet')`)
	q.runOnce()
	span := q.span("process greet")
	if span.Status().Code != codes.Error || span.Status().Description != text {
		t.Errorf("the status is %v", span.Status())
	}
	want(t, span, map[attribute.Key]string{"error.type": "*gwotel_test.foreign"})
	if got := pgtest.Value[string](t, q.pool, `select last_error from graphile_worker.jobs`); got != text {
		t.Errorf("last_error is %s", got)
	}
}

func fallOver() { panic("tripped") }

func TestAPanicEndsTheSpanAndFailsTheJobWithItsStack(t *testing.T) {
	q := newTraced(t, gwotel.Config{})
	q.worker.Handle("greet", func(context.Context, *shim.Job) error {
		fallOver()
		return nil
	})
	if _, err := q.client.Add(t.Context(), "greet", nil, nil); err != nil {
		t.Fatal(err)
	}
	q.runOnce()
	span := q.span("process greet")
	if span.Status().Code != codes.Error || span.Status().Description != "panic: tripped" {
		t.Errorf("the status is %v", span.Status())
	}
	want(t, span, map[attribute.Key]string{"error.type": "panic"})
	lastError := pgtest.Value[string](t, q.pool, `select last_error from graphile_worker.jobs`)
	if !strings.HasPrefix(lastError, "panic: tripped") || !strings.Contains(lastError, "gwotel_test.fallOver") {
		t.Errorf("last_error is %s", lastError)
	}
}

func TestAnInterruptedJobIsNoError(t *testing.T) {
	q := newTraced(t, gwotel.Config{})
	started := make(chan struct{})
	q.worker.Handle("greet", func(ctx context.Context, _ *shim.Job) error {
		close(started)
		<-ctx.Done()
		return ctx.Err()
	})
	if _, err := q.client.Add(t.Context(), "greet", nil, nil); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- q.worker.RunOnce(context.Background()) }()
	<-started
	q.worker.Kill()
	if err := <-done; !errors.Is(err, shim.ErrInterrupted) {
		t.Errorf("the run ended with %v", err)
	}
	span := q.span("process greet")
	if span.Status().Code != codes.Unset {
		t.Errorf("the status is %v", span.Status())
	}
	want(t, span, map[attribute.Key]string{"gw.job.requested_outcome": "returned"})
}

func TestManyJobsShareASpan(t *testing.T) {
	q := newTraced(t, gwotel.Config{})
	nothing := func(context.Context, *shim.Job) error { return nil }
	q.worker.Handle("a", nothing)
	q.worker.Handle("b", nothing)
	if _, err := q.client.AddMany(t.Context(), []shim.JobSpec{{Task: "a"}, {Task: "b"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := q.client.AddMany(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	q.runOnce()
	send := q.span("send")
	want(t, send, map[attribute.Key]string{"messaging.batch.message_count": "2", "messaging.destination.name": ""})
	for _, name := range []string{"process a", "process b"} {
		if q.span(name).Parent().SpanID() != send.SpanContext().SpanID() {
			t.Errorf("%q is not a child of the span that sent it", name)
		}
	}

	if _, err := q.client.AddMany(t.Context(), []shim.JobSpec{{Task: "c"}, {Task: "c"}}); err != nil {
		t.Fatal(err)
	}
	want(t, q.span("send c"), map[attribute.Key]string{"messaging.destination.name": "c"})
	if _, err := q.client.AddBatch(t.Context(), "d", []int{1, 2}, nil); err != nil {
		t.Fatal(err)
	}
	q.span("send d")
}

func TestARefusedJobIsAnError(t *testing.T) {
	q := newTraced(t, gwotel.Config{})
	_, err := q.client.Add(t.Context(), "greet", nil, &shim.AddOptions{Priority: 100000})
	if err == nil {
		t.Fatal("it was taken")
	}
	span := q.span("send greet")
	if span.Status().Code != codes.Error {
		t.Errorf("the status is %v", span.Status())
	}
	want(t, span, map[attribute.Key]string{"error.type": "GWBPR", "messaging.message.id": ""})
}

func TestATransactionIsTracedToo(t *testing.T) {
	q := newTraced(t, gwotel.Config{})
	err := pgx.BeginFunc(t.Context(), q.pool, func(tx pgx.Tx) error {
		_, err := q.client.With(tx).Add(t.Context(), "greet", nil, nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	q.span("send greet")
	carried := pgtest.Value[string](t, q.pool, `select context ->> 'traceparent' from graphile_worker._gw_job_context`)
	if id := q.span("send greet").SpanContext().SpanID().String(); !strings.Contains(carried, id) {
		t.Errorf("what was sent along is %s, want the span %s", carried, id)
	}
}
