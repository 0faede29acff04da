package task_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
)

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
		"301":               {301, "/end", "it would change the POST to a GET"},
		"302":               {302, "/end", "it would change the POST to a GET"},
		"303":               {303, "/end", "it would change the POST to a GET"},
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
			err := post(t, task.HTTP{URL: server.URL + "/", Secrets: secrets(t, "s")}, job)
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
			for _, name := range []string{"Idempotency-Key", "Webhook-Signature", "Gw-Job-Id", "Content-Type"} {
				want(t, name, second.Header.Get(name), first.Header.Get(name))
			}
		})
	}
	if n := elsewhere.count(); n != 0 {
		t.Errorf("another server was sent %d jobs", n)
	}
}
