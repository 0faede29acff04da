package task_test

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
)

func TestJobsShareAsManyConnectionsAsRunAtOnce(t *testing.T) {
	pgtest.OnOneVersion(t)
	const concurrency, jobs = 4, 200
	server := serve(t, func(w http.ResponseWriter, sent *http.Request) {
		if sent.Header.Get("Gw-Job-Id") == "0" {
			w.WriteHeader(500) // what is read of a failure must not cost its connection, either
		}
		_, _ = io.WriteString(w, strings.Repeat("x", 100<<10))
	})
	handle := handler(t, task.HTTP{URL: server.URL, Concurrency: concurrency})
	var all sync.WaitGroup
	for range concurrency {
		all.Go(func() {
			for i := range jobs / concurrency {
				job := newJob()
				job.ID = int64(i % 2)
				if err := handle(t.Context(), job); (err != nil) != (job.ID == 0) {
					t.Errorf("job %d: %v", job.ID, err)
				}
			}
		})
	}
	all.Wait()
	// Now and then one is opened because another is not quite free again.
	if got := server.opened.Load(); got > 3*concurrency {
		t.Errorf("%d connections for %d jobs, want about %d", got, jobs, concurrency)
	}
}

func TestAServerMayBeVouchedForByTheGivenAuthorityOnly(t *testing.T) {
	pgtest.OnOneVersion(t)
	server := &recorder{}
	server.Server = httptest.NewUnstartedServer(server.handler(nil))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = discardedLog()
	server.StartTLS()
	t.Cleanup(server.Close)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	caFile := write(t, 0o644, string(certificate), t.TempDir(), "ca.pem")
	if err := post(t, task.HTTP{URL: server.URL, CAFile: caFile}, newJob()); err != nil {
		t.Errorf("with the server's own authority: %v", err)
	}
	want(t, "protocol", server.only(t).Proto, "HTTP/2.0")
	err := post(t, task.HTTP{URL: server.URL}, newJob())
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("with the system's authorities: error %v, want one about the certificate", err)
	}
}
