package gwotel_test

import (
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwotel"
	"github.com/gwsql/gw/pkg/shim"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// traced is a queue with a client and a worker whose spans are kept.
type traced struct {
	t      *testing.T
	spans  *tracetest.SpanRecorder
	pool   *pgxpool.Pool
	client *gwotel.Client
	worker *shim.Worker
}

func newTraced(t *testing.T, cfg gwotel.Config) *traced {
	t.Helper()
	spans := tracetest.NewSpanRecorder()
	cfg.TracerProvider = sdk.NewTracerProvider(sdk.WithSpanProcessor(spans))
	carry := gwotel.Propagator(propagation.TraceContext{})
	pool := pgtest.Pool(t, pgtest.Database(t))
	worker, err := shim.New(pool, shim.Config{
		Logger:     slog.New(slog.DiscardHandler),
		Propagator: carry,
		Middleware: []shim.Middleware{gwotel.Middleware(cfg)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &traced{
		t:      t,
		spans:  spans,
		pool:   pool,
		client: gwotel.NewClient(shim.NewClient(pool, shim.ClientConfig{Propagator: carry}), cfg),
		worker: worker,
	}
}

func (q *traced) runOnce() {
	q.t.Helper()
	if err := q.worker.RunOnce(q.t.Context()); err != nil {
		q.t.Fatal(err)
	}
}

// span returns the only span of that name that has ended.
func (q *traced) span(name string) sdk.ReadOnlySpan {
	q.t.Helper()
	var found []sdk.ReadOnlySpan
	for _, span := range q.spans.Ended() {
		if span.Name() == name {
			found = append(found, span)
		}
	}
	if len(found) != 1 {
		q.t.Fatalf("%d spans %q have ended, want one", len(found), name)
	}
	return found[0]
}

// attributesOf returns the attributes of a span as text.
func attributesOf(span sdk.ReadOnlySpan) map[attribute.Key]string {
	attributes := make(map[attribute.Key]string)
	for _, a := range span.Attributes() {
		attributes[a.Key] = a.Value.String()
	}
	return attributes
}
