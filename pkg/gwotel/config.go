package gwotel

import (
	"context"
	"strconv"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/gwsql/gw/pkg/shim"
)

// Config configures the tracing of jobs. Its zero value is valid.
type Config struct {
	// TracerProvider provides the tracer. Default: OpenTelemetry's global one.
	TracerProvider trace.TracerProvider

	// NewTraces makes each job start a trace of its own, with a link to the span that added it. Default: false, which
	// makes its span a child of that one. Set it if jobs wait for hours, or if one request adds thousands.
	NewTraces bool
}

const scope = "github.com/gwsql/gw/pkg/gwotel"

func (c Config) tracer() trace.Tracer {
	provider := c.TracerProvider
	if provider == nil {
		provider = otel.GetTracerProvider()
	}
	return provider.Tracer(scope)
}

// system is the value of messaging.system; the conventions define no name for this system.
const system = "graphile_worker"

func messaging(operation, task string) []attribute.KeyValue {
	attributes := []attribute.KeyValue{
		attribute.String("messaging.system", system),
		attribute.String("messaging.operation.name", operation),
		attribute.String("messaging.operation.type", operation),
	}
	if task != "" {
		attributes = append(attributes, attribute.String("messaging.destination.name", task))
	}
	return attributes
}

func messageID(id int64) attribute.KeyValue {
	return attribute.String("messaging.message.id", strconv.FormatInt(id, 10))
}

// Propagator returns a propagator for clients and workers that uses p, or the global propagator at the time of each
// call if p is nil. The global one does nothing until the program sets it, for example to propagation.TraceContext{}.
func Propagator(p propagation.TextMapPropagator) shim.Propagator { return propagator{p} }

type propagator struct{ of propagation.TextMapPropagator }

func (p propagator) current() propagation.TextMapPropagator {
	if p.of == nil {
		return otel.GetTextMapPropagator()
	}
	return p.of
}

func (p propagator) Inject(ctx context.Context) map[string]string {
	carrier := propagation.MapCarrier{}
	p.current().Inject(ctx, carrier)
	return carrier
}

func (p propagator) Extract(ctx context.Context, carried map[string]string) context.Context {
	return p.current().Extract(ctx, propagation.MapCarrier(carried))
}
