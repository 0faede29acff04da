package task_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/internal/webhook"
	"github.com/gwsql/gw/pkg/shim"
)

// secrets returns secrets that are made of words.
func secrets(t *testing.T, words ...string) []webhook.Secret {
	t.Helper()
	var all []webhook.Secret
	for _, word := range words {
		secret, err := webhook.ParseSecret("whsec_" + base64.StdEncoding.EncodeToString(keyOf(word)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, secret)
	}
	return all
}

func keyOf(word string) []byte { return []byte(fmt.Sprintf("%32s", word)) }

// signature implements the specification, independently of the worker.
func signature(word, id, at, body string) string {
	code := hmac.New(sha256.New, keyOf(word))
	fmt.Fprintf(code, "%s.%s.%s", id, at, body)
	return "v1," + base64.StdEncoding.EncodeToString(code.Sum(nil))
}

func TestARequestIsSignedByEachSecret(t *testing.T) {
	pgtest.OnOneVersion(t)
	server := serve(t, nil)
	job := newJob()
	job.TaskIdentifier, job.Revision, job.Payload = "mail.v2/send", 3, json.RawMessage("{ \"n\": 1 }")
	before := time.Now().Unix()
	if err := post(t, task.HTTP{URL: server.URL, Secrets: secrets(t, "new", "old")}, job); err != nil {
		t.Fatal(err)
	}
	got := server.only(t)
	id, at := got.Header.Get("webhook-id"), got.Header.Get("webhook-timestamp")
	want(t, "id", id, "graphile_worker/7/3/mail%2Ev2%2Fsend")
	want(t, "idempotency key", got.Header.Get("Idempotency-Key"), id)
	if seconds, err := strconv.ParseInt(at, 10, 64); err != nil || seconds < before || seconds > time.Now().Unix() {
		t.Errorf("the time is %q", at)
	}
	want(t, "signatures", got.Header.Get("webhook-signature"),
		signature("new", id, at, string(job.Payload))+" "+signature("old", id, at, string(job.Payload)))
}

// A recorded request cannot be used for another job or task.
func TestTheIDOfARequestIsThatOfNoOtherSchemaJobRevisionOrTask(t *testing.T) {
	pgtest.OnOneVersion(t)
	server := serve(t, nil)
	whose := make(map[string]string) // by ids
	for _, schema := range []string{"a", "a/7", "a/7/0", "a%2F7", "a.b", "ä"} {
		handle := handler(t, task.HTTP{URL: server.URL, Schema: schema})
		for _, job := range confusable() {
			var ids []string
			for attempt := range 2 {
				job.Attempts = attempt + 1
				if err := handle(t.Context(), job); err != nil {
					t.Fatal(err)
				}
				ids = append(ids, server.requests[server.count()-1].Header.Get("Idempotency-Key"))
			}
			job.Attempts = 0
			what := fmt.Sprintf("%s: %+v", schema, *job)
			want(t, "the id of the next attempt", ids[1], ids[0])
			if other, taken := whose[ids[0]]; taken || strings.Contains(ids[0], ".") || len(ids[0]) > 2000 {
				t.Errorf("%s has the id %s, and so has %s", what, ids[0], other)
			}
			whose[ids[0]] = what
		}
	}
}

// confusable returns jobs whose ids, revisions and tasks look like parts of each other.
func confusable() (jobs []*shim.Job) {
	for _, name := range []string{"b", "0/b", "7/0/b", "7%2F0%2Fb", "b.", strings.Repeat("ü", 128)} {
		for _, id := range []int64{7, 70} {
			for _, revision := range []int{0, 7} {
				jobs = append(jobs, &shim.Job{ID: id, Revision: revision, TaskIdentifier: name,
					Payload: json.RawMessage("{}")})
			}
		}
	}
	return jobs
}
