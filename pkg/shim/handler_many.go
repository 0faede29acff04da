package shim

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// ManyHandler runs several jobs of one task at once, and returns for each of them, at the same index, what a [Handler]
// would return; nil means that all are completed. A panic fails all of them.
//
// The context ends as that of a [Handler] does when the worker has to stop or when the timeout of the task, which
// applies to the whole call, is over. The cancellation or loss of a job ends the context only if it is the only job of
// the call; with several jobs the context carries no job.
type ManyHandler func(ctx context.Context, jobs []*Job) []error

// wrapped returns h wrapped by all of these middlewares for each of the jobs.
func (h ManyHandler) wrapped(middleware []Middleware) (ManyHandler, error) {
	if len(middleware) == 0 {
		return h, nil
	}
	if _, err := Handler(func(context.Context, *Job) error { return nil }).wrapped(middleware); err != nil {
		return nil, err
	}
	return func(ctx context.Context, jobs []*Job) []error {
		n := &nested{ctx: ctx, middleware: middleware, handler: h, jobs: jobs, errs: make([]error, len(jobs))}
		n.run(0)
		return n.errs
	}, nil
}

// nested is a call of a ManyHandler within the middleware of each of its jobs.
type nested struct {
	ctx        context.Context
	middleware []Middleware
	handler    ManyHandler
	jobs       []*Job
	called     []int // the indexes of the jobs that the middleware has passed on
	errs       []error
}

// run calls the middleware of the jobs from i on, and inside it the handler.
func (n *nested) run(i int) {
	if i == len(n.jobs) {
		n.call()
		return
	}
	let := false
	handler, err := Handler(func(context.Context, *Job) error {
		if let {
			return errors.New("the handler of several jobs cannot be called again for one of them")
		}
		let = true
		n.called = append(n.called, i)
		n.run(i + 1)
		return n.errs[i]
	}).wrapped(n.middleware)
	if err == nil {
		job := n.jobs[i]
		err = handler(job.within(ContextWithJob(n.ctx, job)), job)
	}
	if n.errs[i] = err; !let {
		n.run(i + 1)
	}
}

func (n *nested) call() {
	if len(n.called) == 0 {
		return
	}
	jobs := make([]*Job, len(n.called))
	for at, i := range n.called {
		jobs[at] = n.jobs[i]
	}
	for at, err := range errorsOf(n.handler(n.ctx, jobs), len(jobs)) {
		n.errs[n.called[at]] = err
	}
}

// call is the handlerCall of a handler of several jobs.
func (h ManyHandler) call(ctx context.Context, jobs []*Job, errs []error) {
	copy(errs, errorsOf(h(ctx, shown(jobs)), len(jobs)))
}

// errorsOf returns an error for each of n jobs, whatever the handler has returned.
func errorsOf(errs []error, n int) []error {
	switch {
	case len(errs) == n:
		return errs
	case errs == nil:
		return make([]error, n)
	}
	return slices.Repeat([]error{fmt.Errorf("handler returned %d errors for %d jobs", len(errs), n)}, n)
}
