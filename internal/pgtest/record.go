package pgtest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
)

// recordVariable is the environment variable with a file. Each statement that pkg/shim sends through a pool of a test
// is appended to it as a line of JSON; see make calls.
const recordVariable = "GW_TEST_RECORD"

// recorder is the tracer of tests' pools that records statements.
type recorder struct {
	path string

	mutex sync.Mutex
	known map[string]bool
}

var recording = sync.OnceValue(func() *recorder {
	if path := os.Getenv(recordVariable); path != "" {
		return newRecorder(path)
	}
	return nil
})

func newRecorder(path string) *recorder { return &recorder{path: path, known: make(map[string]bool)} }

func (r *recorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	r.note(data.SQL)
	return ctx
}

func (r *recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (r *recorder) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	for _, queued := range data.Batch.QueuedQueries {
		r.note(queued.SQL)
	}
	return ctx
}

func (r *recorder) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (r *recorder) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

// note records a statement once, if it is a call of the queue by pkg/shim or a completion that CompletionOf returned to
// a test. Calls in the schema for roles are recorded like calls in the queue's own, because their functions have the
// same names.
func (r *recorder) note(sql string) {
	sql = strings.ReplaceAll(sql, `"graphile_worker_api".`, `"graphile_worker".`)
	if !strings.Contains(sql, `"graphile_worker".`) || !isFromShim() &&
		!strings.HasPrefix(sql, `select "graphile_worker"._gw_complete_all(`) {
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.known[sql] {
		return
	}
	r.known[sql] = true
	if err := r.write(sql); err != nil {
		panic(err)
	}
}

func (r *recorder) write(sql string) error {
	line, err := json.Marshal(sql)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(r.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

// isFromShim reports whether the caller of pgx, internal packages aside, is pkg/shim itself and not a test.
func isFromShim() bool {
	callers := make([]uintptr, 50)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for {
		frame, more := frames.Next()
		path, isOurs := strings.CutPrefix(frame.Function, "github.com/gwsql/gw/")
		if isOurs && !strings.HasPrefix(path, "internal/") {
			return strings.HasPrefix(path, "pkg/shim.") && !strings.HasSuffix(frame.File, "_test.go")
		}
		if !more {
			return false
		}
	}
}
