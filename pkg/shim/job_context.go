package shim

import "context"

type jobKey struct{}

// JobFromContext returns the job whose handler runs under ctx or under one of its parents.
func JobFromContext(ctx context.Context) (job *Job, ok bool) {
	job, ok = ctx.Value(jobKey{}).(*Job)
	return job, ok
}

// ContextWithJob returns a context in which [JobFromContext] finds job. Workers create one for each handler; the
// function is meant for tests.
func ContextWithJob(ctx context.Context, job *Job) context.Context {
	return context.WithValue(ctx, jobKey{}, job)
}
