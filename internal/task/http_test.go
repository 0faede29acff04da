package task_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

// request is what a server was sent.
type request struct {
	*http.Request
	body string
}

// recorder is a server that keeps what it is sent and answers as the test says.
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
		"Idempotency-Key": "jobs/42/3",
		"Authorization":   "Bearer x",
		"User-Agent":      "me",
	} {
		want(t, name, got.Header.Get(name), value)
	}
	for _, name := range []string{"Gw-Signature", "Accept-Encoding"} {
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
	want(t, "key in the schema that is there without a word", header.Get("Idempotency-Key"), "graphile_worker/7/0")
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
	want(t, "idempotency key", header.Get("Idempotency-Key"), "a/b%20%C3%BC/7/0")
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

func TestWhatIsWrongWithATaskIsSaidBeforeItRunsAndAllAtOnce(t *testing.T) {
	pgtest.OnOneVersion(t)
	empty := write(t, 0o644, "nothing", t.TempDir(), "ca.pem")
	for name, c := range map[string]struct {
		http task.HTTP
		want []string
	}{
		"no URL":             {task.HTTP{}, []string{"must begin with http:// or https://"}},
		"another scheme":     {task.HTTP{URL: "ftp://a/b"}, []string{"must begin with http:// or https://"}},
		"no host":            {task.HTTP{URL: "http:///b"}, []string{"names no host"}},
		"only a port":        {task.HTTP{URL: "http://:80/b"}, []string{"names no host"}},
		"host from the task": {task.HTTP{URL: "http://{task}.example/"}, []string{"not before them"}},
		"port from the job":  {task.HTTP{URL: "http://a:80{job_id}/"}, []string{"not before them"}},
		"user from the task": {task.HTTP{URL: "http://{task}@a/"}, []string{"not before them"}},
		"placeholder":        {task.HTTP{URL: "http://a/{Task}"}, []string{"{Task} stands for nothing"}},
		"fragment":           {task.HTTP{URL: "http://a/#b"}, []string{"fragment"}},
		"not a URL":          {task.HTTP{URL: "http://user:secret@a:b/"}, []string{"invalid port"}},
		"CA file missing":    {task.HTTP{URL: "https://a", CAFile: empty + "x"}, []string{empty + "x"}},
		"CA file empty":      {task.HTTP{URL: "https://a", CAFile: empty}, []string{"holds no certificate"}},
		"several": {
			task.HTTP{
				URL: "a", CAFile: empty, Timeout: -1,
				Headers: map[string]string{
					"gw-task": "x", "content-length": "1", "a b": "x", "X": "a\nb", "idempotency-key": "x",
				},
			},
			[]string{
				"must begin with", "holds no certificate", "timeout is -1ns", "header gw-task cannot", "header content-length cannot",
				`header "a b"`, "header X: its value", "header idempotency-key cannot",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.http.Handler()
			for _, part := range c.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("error %v, want one with %q", err, part)
				}
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows a password: %v", err)
			}
		})
	}
}

func TestOnlyAStatusFrom200To299CompletesAJob(t *testing.T) {
	pgtest.OnOneVersion(t)
	for _, status := range []int{200, 201, 202, 204, 299} {
		if err := post(t, task.HTTP{URL: serve(t, answer(status)).URL}, newJob()); err != nil {
			t.Errorf("status %d: %v", status, err)
		}
	}
	for status, text := range map[int]string{
		304: "304 Not Modified", 400: "400 Bad Request", 404: "404 Not Found", 429: "429 Too Many Requests",
		500: "500 Internal Server Error", 503: "503 Service Unavailable", 599: "599",
	} {
		server := serve(t, answer(status))
		err := post(t, task.HTTP{URL: server.URL + "/in?token=secret"}, newJob())
		if err == nil {
			t.Errorf("status %d completes the job", status)
			continue
		}
		want(t, "error", err.Error(), "POST "+server.URL+"/in: answered "+text)
		if got := shim.OutcomeOf(newJob(), err); got != shim.OutcomeFailed {
			t.Errorf("status %d: %s, want a failure that is tried again", status, got)
		}
	}
}

func TestOfWhatTheServerSaysToAFailureTheBeginningIsKept(t *testing.T) {
	pgtest.OnOneVersion(t)
	for name, c := range map[string]struct{ body, want string }{
		"text":            {" no such order\r\n", "no such order"},
		"not for storage": {"a\x00b\xffc\x1b[31m\td\ne", "a\uFFFDb\uFFFDc\uFFFD[31m\td\ne"},
		"long":            {strings.Repeat("ü", 4000), strings.Repeat("ü", 2048) + "\n[truncated]"},
		"cut":             {"x" + strings.Repeat("ü", 4000), "x" + strings.Repeat("ü", 2047) + "\n[truncated]"},
		"just fits":       {strings.Repeat("x", 4096), strings.Repeat("x", 4096)},
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(500)
				_, _ = io.WriteString(w, c.body)
			})
			err := post(t, task.HTTP{URL: server.URL}, newJob())
			if err == nil {
				t.Fatal("no error")
			}
			_, text, _ := strings.Cut(err.Error(), "\n")
			want(t, "text", text, c.want)
		})
	}
}

func TestA4xxCanBeToldToFailAJobForGood(t *testing.T) {
	pgtest.OnOneVersion(t)
	for status, permanent := range map[int]bool{
		400: true, 401: true, 404: true, 409: true, 410: true, 422: true, 499: true,
		408: false, 425: false, 429: false, 399: false, 500: false, 503: false,
	} {
		server := serve(t, answer(status, "Retry-After", "1"))
		err := post(t, task.HTTP{URL: server.URL, Permanent4xx: true}, newJob())
		if got := shim.OutcomeOf(newJob(), err) == shim.OutcomePermanentlyFailed; got != permanent {
			t.Errorf("status %d fails for good: %t, want %t", status, got, permanent)
		}
	}
}

func TestAServerCanSayWhenToTryAgain(t *testing.T) {
	pgtest.OnOneVersion(t)
	// A server whose clock is wrong by years: only the difference of its own times counts.
	const date, later = "Mon, 02 Jan 2006 15:04:05 GMT", "Mon, 02 Jan 2006 15:05:35 GMT"
	for name, c := range map[string]struct {
		status  int
		headers []string
		want    time.Duration // -1 for the delay of any failure
	}{
		"seconds":            {429, []string{"Retry-After", "120"}, 2 * time.Minute},
		"at once":            {503, []string{"Retry-After", "0"}, 0},
		"time":               {503, []string{"Retry-After", later, "Date", date}, 90 * time.Second},
		"time in the past":   {503, []string{"Retry-After", date, "Date", later}, 0},
		"with any status":    {500, []string{"Retry-After", "7"}, 7 * time.Second},
		"absurd seconds":     {429, []string{"Retry-After", "99999999999999999999999"}, 24 * time.Hour},
		"more than a day":    {429, []string{"Retry-After", "86401"}, 24 * time.Hour},
		"absurd time":        {429, []string{"Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"}, 24 * time.Hour},
		"negative":           {429, []string{"Retry-After", "-5"}, -1},
		"fraction":           {429, []string{"Retry-After", "1.5"}, -1},
		"neither of the two": {429, []string{"Retry-After", "soon"}, -1},
		"empty":              {429, []string{"Retry-After", ""}, -1},
		"missing":            {429, nil, -1},
	} {
		t.Run(name, func(t *testing.T) {
			err := post(t, task.HTTP{URL: serve(t, answer(c.status, c.headers...)).URL}, newJob())
			got := time.Duration(-1)
			if asked, ok := errors.AsType[*shim.RetryError](err); ok {
				got = asked.Delay
			}
			if err == nil || got != c.want {
				t.Errorf("delay %s, want %s; error %v", got, c.want, err)
			}
		})
	}
}

func TestATimeWithoutADateCountsFromNow(t *testing.T) {
	pgtest.OnOneVersion(t)
	for _, at := range []time.Time{time.Now().Add(time.Hour), time.Now().Add(-time.Hour)} {
		answerAt := answer(503, "Retry-After", at.UTC().Format(http.TimeFormat), "Date", "not a date")
		err := post(t, task.HTTP{URL: serve(t, answerAt).URL}, newJob())
		asked, ok := errors.AsType[*shim.RetryError](err)
		if !ok || asked.Delay > max(0, time.Until(at)+time.Minute) || asked.Delay < max(0, time.Until(at)-time.Minute) {
			t.Errorf("error %v, want one that is tried again at %s", err, at)
		}
	}
}

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

func TestRedirectsAreFollowedOnlyAsAPOSTAndWithinTheServer(t *testing.T) {
	pgtest.OnOneVersion(t)
	elsewhere := serve(t, nil)
	for name, c := range map[string]struct {
		status   int
		location string
		want     string // empty: followed
	}{
		"307":               {307, "/end", ""},
		"308":               {308, "end?b=c", ""},
		"307, another port": {307, elsewhere.URL + "/end", "it leads to another scheme, host or port"},
		"308, scheme":       {308, "https://HOST/end", "it leads to another scheme, host or port"},
		"301":               {301, "/end", "it would make a GET of the POST"},
		"302":               {302, "/end", "it would make a GET of the POST"},
		"303":               {303, "/end", "it would make a GET of the POST"},
		"307 for ever":      {307, "/", "there were too many before it"},
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, func(w http.ResponseWriter, sent *http.Request) {
				if sent.URL.Path == "/end" {
					w.WriteHeader(204)
					return
				}
				w.Header().Set("Location", strings.Replace(c.location, "HOST", sent.Host, 1))
				w.WriteHeader(c.status)
			})
			job := newJob()
			job.Payload = json.RawMessage(`{"some":"payload"}`)
			err := post(t, task.HTTP{URL: server.URL + "/", Secret: "s"}, job)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want one with %q", err, c.want)
				}
				if name == "307 for ever" && server.count() != 6 {
					t.Errorf("%d requests, want the first and five redirects", server.count())
				}
				if strings.HasSuffix(server.requests[len(server.requests)-1].URL.Path, "/end") {
					t.Error("it was followed")
				}
				return
			}
			if err != nil || server.count() != 2 {
				t.Fatalf("%d requests, error %v", server.count(), err)
			}
			first, second := server.requests[0], server.requests[1]
			want(t, "method", second.Method, "POST")
			want(t, "body", second.body, string(job.Payload))
			for _, name := range []string{"Idempotency-Key", "Gw-Signature", "Gw-Job-Id", "Content-Type"} {
				want(t, name, second.Header.Get(name), first.Header.Get(name))
			}
		})
	}
	if n := elsewhere.count(); n != 0 {
		t.Errorf("another server was sent %d jobs", n)
	}
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
