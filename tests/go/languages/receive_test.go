package languages

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
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
	"github.com/gwsql/gw/pkg/shim"
)

const secret = "not told to everybody"

func TestEachLanguageReceivesJobsThatAreSignedAndNoOthers(t *testing.T) {
	database := pgtest.Database(t) // the programs do not look at it
	for _, name := range []program{"main.go", "receive.mjs", "receive.py"} {
		t.Run(string(name), func(t *testing.T) {
			receiver := startReceiver(t, name.command(t.Context(), t, "receive", database))
			job := &shim.Job{ID: 7, TaskIdentifier: "send_invoice", Payload: json.RawMessage(`{ "order": 12 }`), Revision: 1}
			if err := post(t, task.HTTP{URL: receiver.url, Secret: secret}, job); err != nil {
				t.Fatal(err)
			}
			if line := receiver.line(t); line != "invoice 12 graphile_worker/7/1" {
				t.Errorf("the receiver says %q", line)
			}
			for _, wrong := range []string{"", secret + "x"} {
				err := post(t, task.HTTP{URL: receiver.url, Secret: wrong}, job)
				if err == nil || !strings.Contains(err.Error(), "answered 401 Unauthorized") {
					t.Errorf("signed with %q: %v", wrong, err)
				}
			}
			now := time.Now()
			for header, status := range map[string]int{
				signature(now, job.Payload):                        200,
				signature(now.Add(-10*time.Minute), job.Payload):   401,
				signature(now.Add(10*time.Minute), job.Payload):    401,
				signature(now, []byte(`{"order":12}`)):             401, // the same value, other bytes
				strings.Split(signature(now, job.Payload), ",")[0]: 401,
				"t=,v1=" + signature(now, job.Payload)[len("t="):]: 401,
				"nonsense": 401,
				signature(now, job.Payload)[:len("t=1234567890,v1=")]: 401,
			} {
				if got := receiver.post(t, header, job.Payload); got != status {
					t.Errorf("signature %q: status %d, want %d", header, got, status)
				}
			}
		})
	}
}

// signature is written after the documentation, not after the worker.
func signature(at time.Time, body []byte) string {
	code := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(code, "%d.%s", at.Unix(), body)
	return "t=" + strconv.FormatInt(at.Unix(), 10) + ",v1=" + hex.EncodeToString(code.Sum(nil))
}

func post(t *testing.T, h task.HTTP, job *shim.Job) error {
	t.Helper()
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
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
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

func (r *receiver) post(t *testing.T, signature string, body []byte) (status int) {
	t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, r.url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Gw-Signature", signature)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}
