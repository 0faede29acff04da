// Package gwotel traces jobs with OpenTelemetry, from whoever adds them to the handlers that work them.
//
// The producer's side: a [Client] makes a span for each call, and a propagator sends the trace along beside the job, whose
// payload stays as it is.
//
//	client := gwotel.NewClient(shim.NewClient(pool, shim.ClientConfig{Propagator: gwotel.Propagator(nil)}), gwotel.Config{})
//
// The worker's side: the propagator gives the trace to the handler's context, and a middleware makes a span there.
//
//	worker, err := shim.New(pool, shim.Config{
//		Propagator: gwotel.Propagator(nil),
//		Middleware: []shim.Middleware{gwotel.Middleware(gwotel.Config{})},
//	})
//
// Each part is of use without the others. Names and attributes are those of OpenTelemetry's conventions for messaging;
// docs/observe.md lists them. The package needs the API of OpenTelemetry alone: which SDK there is, if any, is up to the
// program.
package gwotel
