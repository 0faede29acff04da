package task_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

// request is what a server was sent.
type request struct {
	*http.Request
	body string
}

// recorder is a server that records its requests and gives the answers of the test.
type recorder struct {
	*httptest.Server
	mu       sync.Mutex
	requests []request
	opened   atomic.Int32 // connections
}

// serve starts a server. Without an answer it answers 204.
func serve(t *testing.T, answer http.HandlerFunc) *recorder {
	t.Helper()
	r := &recorder{}
	r.Server = httptest.NewUnstartedServer(r.handler(answer))
	r.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			r.opened.Add(1)
		}
	}
	r.Start()
	t.Cleanup(r.Close)
	return r
}

func (r *recorder) handler(answer http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, sent *http.Request) {
		body, err := io.ReadAll(sent.Body)
		if err != nil {
			panic(err)
		}
		r.mu.Lock()
		r.requests = append(r.requests, request{sent, string(body)})
		r.mu.Unlock()
		if answer == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		answer(w, sent)
	}
}

// only returns the one request that the server was sent.
func (r *recorder) only(t *testing.T) request {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.requests) != 1 {
		t.Fatalf("the server was sent %d requests, want 1", len(r.requests))
	}
	return r.requests[0]
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.requests)
}

// post sends a job.
func post(t *testing.T, h task.HTTP, job *shim.Job) error {
	t.Helper()
	return handler(t, h)(t.Context(), job)
}

func handler(t *testing.T, h task.HTTP) shim.Handler {
	t.Helper()
	handle, err := h.Handler()
	if err != nil {
		t.Fatal(err)
	}
	return handle
}

func answer(status int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header()[headers[i]] = []string{headers[i+1]}
		}
		w.WriteHeader(status)
	}
}
