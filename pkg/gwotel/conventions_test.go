package gwotel_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/gwsql/gw/pkg/gwotel"
	"github.com/gwsql/gw/pkg/shim"
)

func TestSpansHaveTheNamesOfTheConventions(t *testing.T) {
	q := newTraced(t, gwotel.Config{})
	q.worker.Handle("greet", func(context.Context, *shim.Job) error { return errors.New("no such host") })
	if _, err := q.client.Add(t.Context(), "greet", nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := q.client.AddMany(t.Context(), []shim.JobSpec{{Task: "many"}, {Task: "many"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := q.client.Add(t.Context(), "", nil, nil); err == nil {
		t.Fatal("a job without a task was added")
	}
	q.runOnce()
	always := []attribute.Key{semconv.MessagingSystemKey, semconv.MessagingOperationNameKey,
		semconv.MessagingOperationTypeKey}
	send, process := semconv.MessagingOperationTypeSend, semconv.MessagingOperationTypeProcess
	for name, c := range map[string]struct {
		operation attribute.KeyValue
		kind      trace.SpanKind
		keys      []attribute.Key
	}{
		"send greet": {send, trace.SpanKindProducer, []attribute.Key{semconv.MessagingDestinationNameKey,
			semconv.MessagingMessageIDKey}},
		"send many": {send, trace.SpanKindProducer, []attribute.Key{semconv.MessagingDestinationNameKey,
			semconv.MessagingBatchMessageCountKey}},
		"send": {send, trace.SpanKindProducer, []attribute.Key{semconv.ErrorTypeKey}},
		"process greet": {process, trace.SpanKindConsumer, []attribute.Key{semconv.MessagingDestinationNameKey,
			semconv.MessagingMessageIDKey, semconv.ErrorTypeKey}},
	} {
		span := q.span(name)
		if span.SpanKind() != c.kind || !slices.Contains(span.Attributes(), c.operation) {
			t.Errorf("the span %q is a %s of %v", name, span.SpanKind(), span.Attributes())
		}
		want := slices.Sorted(slices.Values(append(c.keys, always...)))
		var got []attribute.Key
		for key := range attributesOf(span) {
			if !strings.HasPrefix(string(key), "gw.job.") { // our own
				got = append(got, key)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("the span %q has the attributes %q, the conventions %q", name, got, want)
		}
	}
}
