package gwotel_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"

	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwotel"
	"github.com/gwsql/gw/pkg/shim"
)

func Example() {
	url, drop := pgtest.Example() // an empty queue
	defer drop()
	ctx := context.Background()
	pool, err := shim.Open(ctx, url)
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()

	// A program would call otel.SetTracerProvider and otel.SetTextMapPropagator once, and leave these out.
	spans := tracetest.NewSpanRecorder()
	cfg := gwotel.Config{TracerProvider: sdk.NewTracerProvider(sdk.WithSpanProcessor(spans))}
	propagator := gwotel.Propagator(propagation.TraceContext{})

	client := gwotel.NewClient(shim.NewClient(pool, shim.ClientConfig{Propagator: propagator}), cfg)
	if _, err := client.Add(ctx, "greet", nil, nil); err != nil {
		log.Fatal(err)
	}

	worker, err := shim.New(pool, shim.Config{
		Logger:     slog.New(slog.DiscardHandler),
		Propagator: propagator,
		Middleware: []shim.Middleware{gwotel.Middleware(cfg)},
	})
	if err != nil {
		log.Fatal(err)
	}
	worker.Handle("greet", func(context.Context, *shim.Job) error { return nil })
	if err := worker.RunOnce(ctx); err != nil {
		log.Fatal(err)
	}

	send, process := spans.Ended()[0], spans.Ended()[1]
	fmt.Println(send.Name(), "and", process.Name())
	fmt.Println("one trace:", send.SpanContext().TraceID() == process.SpanContext().TraceID())
	// Output:
	// send greet and process greet
	// one trace: true
}
