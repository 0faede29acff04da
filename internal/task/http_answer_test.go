package task_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

func TestOnlyAStatusFrom200To299CompletesAJob(t *testing.T) {
	pgtest.OnOneVersion(t)
	for _, status := range []int{200, 201, 202, 204, 299} {
		if err := post(t, task.HTTP{URL: serve(t, answer(status)).URL}, newJob()); err != nil {
			t.Errorf("status %d: %v", status, err)
		}
	}
	for status, text := range map[int]string{
		304: "304 Not Modified", 400: "400 Bad Request", 404: "404 Not Found",
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

func TestAnErrorCallsTheURLAsItIsToldTo(t *testing.T) {
	pgtest.OnOneVersion(t)
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"failure":  {answer(500), "POST ${SERVER}/${TOKEN}: answered 500 Internal Server Error"},
		"redirect": {answer(302, "Location", "/top-secret/"), "The redirect to http://HOST/... was not followed"},
		"nobody":   {nil, "POST ${SERVER}/${TOKEN}: dial tcp HOST: "},
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, c.answer)
			if c.answer == nil {
				server.Close()
			}
			err := post(t, task.HTTP{URL: server.URL + "/top-secret", Shown: "${SERVER}/${TOKEN}"}, newJob())
			want := strings.Replace(c.want, "HOST", strings.TrimPrefix(server.URL, "http://"), 1)
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "top-secret") {
				t.Errorf("error %v, want %s", err, want)
			}
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
