package gwotel

import (
	"strconv"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
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
