package shim

import "errors"

// Middleware makes a handler of a handler, to do something around each job: to count it, to trace it, to give it a
// transaction. It sees the job, and the error that says what is to become of it, which [OutcomeOf] reads; it may return
// another one. Typed handlers decode their payload within, so that a payload that does not fit is an error to see, too.
// A panic of the handler passes through it, and fails the job with its stack if nobody recovers it.
//
// It runs in the goroutine and under the context of the handler.
type Middleware func(next Handler) Handler

// wrapped returns h within all of these, of which the first is the outermost.
func (h Handler) wrapped(middleware []Middleware) (Handler, error) {
	for i := len(middleware) - 1; i >= 0; i-- {
		if h = middleware[i](h); h == nil {
			return nil, errors.New("a middleware returned no handler")
		}
	}
	return h, nil
}
