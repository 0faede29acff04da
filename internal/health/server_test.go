package health

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// serve starts a server of a monitor, and returns a function that asks it.
func serve(t *testing.T, m *Monitor, ping func(context.Context) error) func(path string) (int, string) {
	t.Helper()
	server, err := Serve("127.0.0.1:0", Config{
		Monitor: m,
		Ping:    ping,
		Metrics: http.NotFoundHandler(),
		Logger:  slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return func(path string) (int, string) {
		response, err := http.Get("http://" + server.Address() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, strings.TrimSpace(string(body))
	}
}

func TestAWorkerWhoseClaimsHaveNotMetTheLossYetIsNotReady(t *testing.T) {
	m, _ := watched(false, shim.WorkerStarted{}, shim.ClaimSucceeded{})
	asks := 0
	get := serve(t, m, func(context.Context) error {
		asks++
		return errors.New("gone")
	})
	for range 2 {
		code, body := get("/readyz")
		if want := `{"status":"failed","reasons":["database cannot be reached: gone"]}`; code != 503 || body != want {
			t.Errorf("got %d %s, want %s", code, body, want)
		}
	}
	if asks != 1 {
		t.Errorf("the database was asked %d times for two requests in a row", asks)
	}
	if code, body := get("/livez"); code != 200 || body != `{"status":"ok"}` {
		t.Errorf("/livez says %d %s", code, body)
	}
}

func TestAStuckWorkerIsNotAlive(t *testing.T) {
	m, sleep := watched(false, shim.WorkerStarted{})
	sleep(stuckAfter + time.Second)
	get := serve(t, m, func(context.Context) error { return nil })
	if code, body := get("/livez"); code != 503 || !strings.Contains(body, "stale locks") {
		t.Errorf("got %d %s", code, body)
	}
}
