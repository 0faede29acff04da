package gwotel

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"

	"github.com/gwsql/gw/pkg/shim"
)

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
