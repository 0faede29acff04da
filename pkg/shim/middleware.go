package shim

import "errors"

// Middleware wraps a handler to do something around each job: to count it, to trace it, to give it a transaction. It
// receives the job, and the error that determines the outcome, which [OutcomeOf] interprets; it may return another
// error. Typed handlers decode their payload inside, so an invalid payload is also an error that middleware receives. A
// panic of the handler passes through the middleware; if nothing recovers it, it fails the job and is stored with its
// stack.
//
// Middleware runs in the goroutine and under the context of the handler.
type Middleware func(next Handler) Handler

// wrapped returns h wrapped by all of these middlewares, the first being the outermost.
func (h Handler) wrapped(middleware []Middleware) (Handler, error) {
	for i := len(middleware) - 1; i >= 0; i-- {
		if h = middleware[i](h); h == nil {
			return nil, errors.New("a middleware returned no handler")
		}
	}
	return h, nil
}
