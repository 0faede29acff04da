package shim

import "context"

type jobKey struct{}

// JobFromContext returns the job whose handler runs under ctx, or under a context that ctx is made from.
func JobFromContext(ctx context.Context) (job *Job, ok bool) {
	job, ok = ctx.Value(jobKey{}).(*Job)
	return job, ok
}

// ContextWithJob returns a context that [JobFromContext] finds job in. Workers make one for each handler; it is there
// for the tests of what uses it.
func ContextWithJob(ctx context.Context, job *Job) context.Context {
	return context.WithValue(ctx, jobKey{}, job)
}
