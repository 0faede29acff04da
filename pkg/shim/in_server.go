package shim

import (
	"errors"
	"fmt"
	"time"
)

// ServerCall is a function or a procedure in the database of the queue.
type ServerCall struct {
	// Function is its name with its schema, quoted where needed. Its argument is the payload.
	Function string
	// PayloadType is the type of the argument: json or jsonb.
	PayloadType string
	// IsProcedure is whether it is called by CALL.
	IsProcedure bool
	// Timeout is how long a call may take.
	Timeout time.Duration
}

// InServer lets the worker call a function in the database for many jobs in one transaction, while there are many, in place
// of the handler. Use it for a task whose handler does nothing but call this function and complete the job in the same
// transaction. Nothing is written for such a batch but what the function writes, and the deletion of its jobs: until its
// commit its row locks hold the jobs.
//
// A batch takes jobs without a key, a queue, flags or limits whose payload is small and that have never failed; the handler gets the
// others, and all of them while jobs are few, long, in conflict with each other, or while batches fail. Events are those of the handler,
// each with its share of the time; their jobs have no payload, and are announced when the batch has ended.
//
// The option has no effect for a worker with a Middleware or a Propagator, and for a task with a [Backoff].
func InServer(call ServerCall) TaskOption {
	return func(t *task) error {
		var problems []error
		if call.Function == "" {
			problems = append(problems, errors.New("the function in the server has no name"))
		}
		if call.PayloadType != "json" && call.PayloadType != "jsonb" {
			problems = append(problems, fmt.Errorf("the payload of the function in the server is of type %q, must be json or jsonb", call.PayloadType))
		}
		if call.Timeout <= 0 {
			problems = append(problems, fmt.Errorf("the timeout of the function in the server is %s, must be positive", call.Timeout))
		}
		t.inServer = &call
		return errors.Join(problems...)
	}
}
