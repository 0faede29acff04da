package task

import (
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// The test does not wait between starts: it treats each program that dies again as started after its delay.
func TestAProgramThatDiesAgainAndAgainIsStartedEverMoreSlowlyUntilOneAnswers(t *testing.T) {
	launcher := NewLauncher()
	defer launcher.Close()
	p := NewPersistent(PersistentConfig{
		Program: Executable{
			Path: "/bin/sh", Args: []string{"-c",
				`read -r line; case $line in *true*) echo '{"id":1,"ok":true}'; read -r line;; esac; exit 1`},
		},
		Launcher: launcher, Logger: slog.New(slog.DiscardHandler),
	})
	defer p.Close()
	run := func(payload string) (sinceStart, sinceEnd time.Duration) {
		p.notBefore = time.Time{}
		started := time.Now()
		_ = p.Run(t.Context(), &shim.Job{ID: 1, Payload: json.RawMessage(payload)}) // how it goes is seen by the wait
		return p.notBefore.Sub(started), time.Until(p.notBefore)
	}
	for i, want := range []time.Duration{100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000, 10000, 10000, 10000} {
		if sinceStart, sinceEnd := run("{}"); sinceStart < want*time.Millisecond || sinceEnd > want*time.Millisecond {
			t.Errorf("death %d: waits for %s to %s, want %d ms", i+1, sinceEnd, sinceStart, want)
		}
	}
	if wait, _ := run("true"); wait > 0 || p.failures != 0 {
		t.Errorf("after an answer it waits %s, %d failures", wait, p.failures)
	}
}
