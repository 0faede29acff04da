package shim

import (
	"context"
	"errors"
	"fmt"
)

// ManyHandler does the work of several jobs of one task at once, and returns what a [Handler] would for each of them, at
// the same place; nil says that all are done. A panic fails them all.
//
// The context ends as a [Handler]'s does when the worker has to leave or when the time of the task is over, which is one
// for all of them. That one of the jobs was canceled, or is not the worker's any more, ends it only if there is just this
// one; of several, it carries nothing of a job.
type ManyHandler func(ctx context.Context, jobs []*Job) []error

// HandleMany registers a handler that is given several jobs of a task at once: those that wait in this worker for one of its
// executors, up to most of them. There are several only while they come faster than they are done, and take less than
// 50 ms each, or than a claim takes. They run as one as far as Config.Concurrency is concerned; in logs and events each has
// its share of the time.
//
// Middleware is called once for each of the jobs, one within the other, around the handler for all. What it puts into its
// context does not reach the handler.
func (w *Worker) HandleMany(name string, most int, fn ManyHandler, options ...TaskOption) {
	w.handle(Task{Name: name, Many: fn, Most: most, Options: options})
}

// wrapped returns h within all of these, for each of the jobs.
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
	called     []int // which of them the middleware has let through
	errs       []error
}

// run calls the middleware of the jobs from i on, and within it the handler.
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

// errorsOf returns an error for each of n jobs, whatever a handler has returned.
func errorsOf(errs []error, n int) []error {
	if len(errs) == n {
		return errs
	}
	all := make([]error, n)
	if errs != nil {
		for i := range all {
			all[i] = fmt.Errorf("handler returned %d errors for %d jobs", len(errs), n)
		}
	}
	return all
}
