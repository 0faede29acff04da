package task_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

func TestAJobIsPostedWithItsPayloadAsItIsAndWithWhatIsKnownAboutIt(t *testing.T) {
	pgtest.OnOneVersion(t)
	server := serve(t, nil)
	job := &shim.Job{
		ID:             42,
		TaskIdentifier: "mail/send",
		Payload:        json.RawMessage("{\n  \"n\": 12345678901234567890,\n \"to\" : \"\\u00e4 b\" }"),
		RunAt:          time.Date(2026, 11, 20, 10, 4, 5, 6_789_000, time.FixedZone("", 3600)),
		Attempts:       2,
		MaxAttempts:    25,
		Key:            "the-key",
		Revision:       3,
	}
	h := task.HTTP{
		URL: server.URL + "/in?a=b", Schema: "jobs",
		Headers: map[string]string{"authorization": "Bearer x", "User-Agent": "me", "host": "tasks.example"},
	}
	if err := post(t, h, job); err != nil {
		t.Fatal(err)
	}
	got := server.only(t)
	want(t, "method", got.Method, "POST")
	want(t, "path", got.RequestURI, "/in?a=b")
	want(t, "host", got.Host, "tasks.example")
	want(t, "body", got.body, string(job.Payload))
	for name, value := range map[string]string{
		"Content-Type":    "application/json",
		"Content-Length":  fmt.Sprint(len(job.Payload)),
		"Gw-Task":         "mail/send",
		"Gw-Job-Id":       "42",
		"Gw-Attempt":      "2",
		"Gw-Max-Attempts": "25",
		"Gw-Key":          "the-key",
		"Gw-Run-At":       "2026-11-20T09:04:05.006Z",
		"Idempotency-Key": "jobs/42/3/mail%2Fsend",
		"Authorization":   "Bearer x",
		"User-Agent":      "me",
	} {
		want(t, name, got.Header.Get(name), value)
	}
	for _, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature", "Accept-Encoding"} {
		want(t, name, strings.Join(got.Header[name], ","), "")
	}
}

func TestWhatAJobDoesNotHaveHasNoHeader(t *testing.T) {
	pgtest.OnOneVersion(t)
	server := serve(t, nil)
	if err := post(t, task.HTTP{URL: server.URL}, newJob()); err != nil {
		t.Fatal(err)
	}
	header := server.only(t).Header
	if header.Values("Gw-Key") != nil || header.Values("Gw-Run-At") != nil {
		t.Errorf("headers of a job without a key that is due since ever: %v", header)
	}
	want(t, "key in the schema that is there without a word", header.Get("Idempotency-Key"), "graphile_worker/7/0/a")
}

func TestAnyTextOfAJobArrivesPercentEncoded(t *testing.T) {
	pgtest.OnOneVersion(t)
	server := serve(t, nil)
	job := newJob()
	job.Key = "a b\r\nX-Evil: 1\x00\x7f ü% € \U0001F600/é=+\""
	job.TaskIdentifier = " spaced "
	if err := post(t, task.HTTP{URL: server.URL, Schema: "a/b ü"}, job); err != nil {
		t.Fatal(err)
	}
	header := server.only(t).Header
	key, err := url.PathUnescape(header.Get("Gw-Key"))
	if err != nil {
		t.Fatal(err)
	}
	want(t, "key", key, job.Key)
	want(t, "key on the wire", header.Get("Gw-Key"),
		"a%20b%0D%0AX-Evil:%201%00%7F%20%C3%BC%25%20%E2%82%AC%20%F0%9F%98%80/%C3%A9=+\"")
	want(t, "task", header.Get("Gw-Task"), "%20spaced%20")
	want(t, "idempotency key", header.Get("Idempotency-Key"), "a%2Fb%20%C3%BC/7/0/%20spaced%20")
	want(t, "injected header", header.Get("X-Evil"), "")
}

func TestTheURLMayNameTheTaskAndTheJob(t *testing.T) {
	pgtest.OnOneVersion(t)
	server := serve(t, nil)
	job := newJob()
	job.TaskIdentifier = "mail/send it?&#ü"
	if err := post(t, task.HTTP{URL: server.URL + "/{task}/{job_id}?of={task}"}, job); err != nil {
		t.Fatal(err)
	}
	want(t, "URL", server.only(t).RequestURI, "/mail/send%20it%3F&%23%C3%BC/7?of=mail%2Fsend+it%3F%26%23%C3%BC")
}

func TestARequestEndsWithTheContextOfItsJob(t *testing.T) {
	pgtest.OnOneVersion(t)
	arrived, left := make(chan struct{}), make(chan struct{})
	server := serve(t, func(_ http.ResponseWriter, sent *http.Request) {
		close(arrived)
		<-sent.Context().Done()
		close(left)
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	handle := handler(t, task.HTTP{URL: server.URL})
	go func() { done <- handle(ctx, newJob()) }()
	<-arrived
	cancel(shim.ErrShutdown)
	if err := <-done; !errors.Is(err, shim.ErrShutdown) {
		t.Errorf("error %v, want the reason of the end", err)
	}
	<-left
}
