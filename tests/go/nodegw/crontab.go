package nodegw

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// Crontab is the result of Graphile Worker for a crontab: items, or an error.
type Crontab struct {
	Items []CronItem
	Error string
}

// CronItem is an item of a crontab in the form of Graphile Worker.
type CronItem struct {
	Task, Identifier string
	Payload          any
	Options          struct {
		BackfillPeriod float64 // in milliseconds
		MaxAttempts    float64
		QueueName      string
		Priority       float64
		JobKey         string
		JobKeyMode     string
	}
	Minutes, Hours, Dates, Months, Dows []int
}

// Crontabs parses crontabs with Graphile Worker, and returns its result for each.
func Crontabs(t testing.TB, version Version, texts []string) []Crontab {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := command(ctx, t, "crontab.mjs", "", nil)
	cmd.Stdin = strings.NewReader(marshal(t, map[string]any{"version": version, "crontabs": texts}))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("read crontabs with %s: %v", version, ended(err, stderr.String()))
	}
	var crontabs []Crontab
	if err := json.Unmarshal(stdout.Bytes(), &crontabs); err != nil {
		t.Fatalf("read the results of %s: %v\n%s", version, err, stdout.String())
	}
	if len(crontabs) != len(texts) {
		t.Fatalf("%s read %d of %d crontabs", version, len(crontabs), len(texts))
	}
	return crontabs
}
