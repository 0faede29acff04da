package crontab

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/crontab"
)

// tick calls run_cron twice: for a minute in which the items become known, and for the next one. It returns the number of jobs added.
func tick(t *testing.T, pool *pgxpool.Pool, items []crontab.Item) (added int, err error) {
	t.Helper()
	text, err := json.Marshal(items)
	if err != nil {
		t.Fatal(err)
	}
	const call = "select handled, json_array_length(scheduled) from graphile_worker.run_cron($1::text::json, $2, $3)"
	var handled time.Time
	start := time.Date(2026, time.January, 1, 0, 0, 30, 0, time.UTC)
	if err := pool.QueryRow(t.Context(), call, string(text), nil, start).Scan(&handled, &added); err != nil {
		return 0, err
	}
	err = pool.QueryRow(t.Context(), call, string(text), handled, start.Add(time.Minute)).Scan(&handled, &added)
	return added, err
}

func TestTheDatabaseTakesWhateverCanBeRead(t *testing.T) {
	name := strings.Repeat("n", 128)
	minutes := strings.Repeat("1,", 495) + "1" // 991 characters
	items, err := crontab.Parse(fmt.Sprintf(`
* * * * * %s ?id=%s&queue=%s&fill=3550w&max=32767&priority=-32768&jobKey=%s&jobKeyMode=preserve_run_at&tz=Etc/GMT%%2B1
* * * * * odd {a: '\x01', b: {'\ud800': '\udfff'}, _cron: 1, "": [1e400, 5e-324, 0xFFFFFFFFFFFFFFFFFF]}
* * * * * least ?max=1&priority=32767&fill=0s&job_key=%%01%%F0%%9F%%98%%80 {}
%s * * * * long
* * * * * mode ?jobKeyMode=replace`, name, name, name, strings.Repeat("%C3%A4", 512), minutes))
	if err != nil {
		t.Fatal(err)
	}
	pool := pgtest.Pool(t, pgtest.Database(t))
	if added, err := tick(t, pool, items); err != nil || added != len(items) {
		t.Fatalf("%d jobs were added for %d items; %v", added, len(items), err)
	}
	for want, column := range map[string]string{
		name + " -32768 32767 " + strings.Repeat("ä",
			512): "queue_name || ' ' || priority || ' ' || max_attempts || ' ' || key",
		"32767 1 \x01😀": "priority || ' ' || max_attempts || ' ' || key",
	} {
		found := pgtest.Value[bool](t, pool, "select exists (select from graphile_worker.jobs where "+column+" = $1)",
			want)
		if !found {
			t.Errorf("there is no job with %q", want)
		}
	}
}

func TestTheDatabaseTakesWhateverCanBeMade(t *testing.T) {
	name := strings.Repeat("ä", 128)
	var items []crontab.Item
	for i, opts := range []crontab.Options{
		{Queue: name, JobKey: strings.Repeat("ä", 512), Fill: math.MaxInt32 * time.Second, MaxAttempts: math.MaxInt16},
		{ID: strings.Repeat("i", 128), Priority: math.MinInt16,
			PayloadJSON: json.RawMessage(`{"a": "\u0001", "\ud800": {"a": ["\udfff"]}}`)},
		{ID: "_", Payload: map[string]any{"<": "\u2028"}, TimeZone: "America/Argentina/Buenos_Aires"},
	} {
		item, err := crontab.EveryMinute(name, &opts)
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		items = append(items, item)
	}
	pool := pgtest.Pool(t, pgtest.Database(t))
	if added, err := tick(t, pool, items); err != nil || added != len(items) {
		t.Errorf("%d jobs were added for %d items; %v", added, len(items), err)
	}
}
