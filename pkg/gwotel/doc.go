// Package gwotel traces jobs with OpenTelemetry, from the caller that adds them to the handler that runs them.
//
// For producers: a [Client] creates a span for each call, and a propagator stores the trace beside the job, whose
// payload is unchanged.
//
//	client := gwotel.NewClient(shim.NewClient(pool, shim.ClientConfig{Propagator: gwotel.Propagator(nil)}), gwotel.Config{})
//
// For workers: the propagator puts the trace into the handler's context, and a middleware creates a span in it.
//
//	worker, err := shim.New(pool, shim.Config{
//		Propagator: gwotel.Propagator(nil),
//		Middleware: []shim.Middleware{gwotel.Middleware(gwotel.Config{})},
//	})
//
// Each part is useful without the others. Names and attributes follow OpenTelemetry's conventions for messaging;
// docs/observe.md lists them. The package depends only on the OpenTelemetry API; the program chooses the SDK, if any.
package gwotel
