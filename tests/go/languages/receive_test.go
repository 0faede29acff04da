package languages

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/internal/webhook"
	"github.com/gwsql/gw/pkg/shim"
)

// The secret that the receivers know, and another.
const (
	secret = "whsec_bm90IHRvbGQgdG8gZXZlcnlib2R5LCBub3QgdG8geW91"
	other  = "whsec_bm90IHRvbGQgdG8gZXZlcnlib2R5LCBub3QgdG8gbWUh"
)

func TestEachLanguageReceivesJobsThatAreSignedAndNoOthers(t *testing.T) {
	database := pgtest.Database(t) // the programs do not look at it
	for _, name := range []program{"main.go", "receive.mjs", "receive.py"} {
		t.Run(string(name), func(t *testing.T) {
			receiver := startReceiver(t, name.command(t.Context(), t, "receive", database))
			wantReceived(t, receiver)
			wantRefused(t, receiver)
			wantChecked(t, receiver)
		})
	}
}

func invoice() *shim.Job {
	return &shim.Job{ID: 7, TaskIdentifier: "send_invoice", Payload: json.RawMessage(`{ "order": 12, "to": "Zoë 😀" }`),
		Revision: 1}
}

// wantReceived expects that a job is taken which is signed with the right secret, alone or beside another.
func wantReceived(t *testing.T, receiver *receiver) {
	t.Helper()
	for _, secrets := range [][]string{{secret}, {other, secret}, {secret, other}} {
		if err := post(t, receiver, invoice(), secrets...); err != nil {
			t.Fatal(err)
		}
		if line := receiver.line(t); line != "invoice 12 graphile_worker/7/1/send_invoice" {
			t.Errorf("the receiver says %q", line)
		}
	}
}

// wantRefused expects that a job is refused which is not signed, by another secret, or of another task.
func wantRefused(t *testing.T, receiver *receiver) {
	t.Helper()
	elsewhere := invoice()
	elsewhere.TaskIdentifier = "send_reminder"
	for name, err := range map[string]error{
		"not signed":        post(t, receiver, invoice()),
		"by another secret": post(t, receiver, invoice(), other),
		"for another task":  post(t, receiver, elsewhere, secret),
	} {
		if err == nil || !strings.Contains(err.Error(), "answered 401 Unauthorized") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// wantChecked expects that what is signed is looked at: the id, the time and the body.
func wantChecked(t *testing.T, receiver *receiver) {
	t.Helper()
	const id, body = "graphile_worker/7/1/send_invoice", `{ "order": 12 }`
	now := time.Now().Unix()
	for name, c := range map[string]struct {
		id, signature string
		at            int64
		status        int
	}{
		"right":           {id, signature(id, now, body), now, 200},
		"long ago":        {id, signature(id, now-600, body), now - 600, 401},
		"from the future": {id, signature(id, now+600, body), now + 600, 401},
		"another time":    {id, signature(id, now-600, body), now, 401},
		"another id":      {"graphile_worker/8/1/send_invoice", signature(id, now, body), now, 401},
		"no id":           {"", signature(id, now, body), now, 401},
		"other bytes":     {id, signature(id, now, `{"order":12}`), now, 401},
		"no signature":    {id, "", now, 401},
		"no version":      {id, strings.TrimPrefix(signature(id, now, body), "v1,"), now, 401},
		"nothing after":   {id, "v1,", now, 401},
		"nonsense":        {id, "nonsense", now, 401},
	} {
		if got := receiver.post(t, c.id, c.at, c.signature, body); got != c.status {
			t.Errorf("%s: status %d, want %d", name, got, c.status)
		}
	}
}

// signature implements the specification, independently of the worker.
func signature(id string, at int64, body string) string {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret,
		"whsec_")) // the receivers would not take a wrong one
	code := hmac.New(sha256.New, key)
	fmt.Fprintf(code, "%s.%d.%s", id, at, body)
	return "v1," + base64.StdEncoding.EncodeToString(code.Sum(nil))
}

// post has the worker send a job.
func post(t *testing.T, receiver *receiver, job *shim.Job, secrets ...string) error {
	t.Helper()
	h := task.HTTP{URL: receiver.url}
	for _, text := range secrets {
		secret, err := webhook.ParseSecret(text)
		if err != nil {
			t.Fatal(err)
		}
		h.Secrets = append(h.Secrets, secret)
	}
	handle, err := h.Handler()
	if err != nil {
		t.Fatal(err)
	}
	return handle(t.Context(), job)
}

type receiver struct {
	url   string
	lines *bufio.Reader
}

func startReceiver(t *testing.T, cmd *exec.Cmd) *receiver {
	t.Helper()
	cmd.Env = append(cmd.Env, "PORT=0", "GW_SECRET="+secret)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	// What `go run` starts would outlive it.
	cmd.SysProcAttr = pgtest.OwnGroup()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = pgtest.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the receiver: %s", &complaints)
		}
	})
	r := &receiver{lines: bufio.NewReader(stdout)}
	r.url = "http://127.0.0.1:" + strings.TrimPrefix(r.line(t), "port ")
	return r
}

func (r *receiver) line(t *testing.T) string {
	t.Helper()
	line, err := r.lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func (r *receiver) post(t *testing.T, id string, at int64, signature, body string) (status int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("webhook-id", id)
	request.Header.Set("webhook-timestamp", strconv.FormatInt(at, 10))
	request.Header.Set("webhook-signature", signature)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}
