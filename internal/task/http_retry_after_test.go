package task_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

func TestAServerCanSayWhenToTryAgain(t *testing.T) {
	pgtest.OnOneVersion(t)
	// A server whose clock is wrong by years: only the difference of its own times counts.
	const date, later = "Mon, 02 Jan 2006 15:04:05 GMT", "Mon, 02 Jan 2006 15:05:35 GMT"
	for name, c := range map[string]struct {
		status  int
		headers []string
		want    time.Duration // -1 for the delay of any failure
	}{
		"seconds":          {503, []string{"Retry-After", "120"}, 2 * time.Minute},
		"at once":          {503, []string{"Retry-After", "0"}, time.Second},
		"time":             {503, []string{"Retry-After", later, "Date", date}, 90 * time.Second},
		"time in the past": {503, []string{"Retry-After", date, "Date", later}, time.Second},
		"with any status":  {500, []string{"Retry-After", "7"}, 7 * time.Second},
		"absurd seconds":   {503, []string{"Retry-After", "99999999999999999999999"}, 24 * time.Hour},
		"more than a day":  {503, []string{"Retry-After", "86401"}, 24 * time.Hour},
		"absurd time":      {503, []string{"Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"}, 24 * time.Hour},
		"just no number":   {503, []string{"Retry-After", "9223372036854775808"}, 24 * time.Hour},
		"zeros":            {503, []string{"Retry-After", "00000000000000000000000005"}, 5 * time.Second},
		"years too late":   {503, []string{"Retry-After", "Fri, 31 Dec 294276 23:59:59 GMT"}, -1},
		"centuries after": {503, []string{"Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT", "Date",
			"Mon, 01 Jan 0001 00:00:00 GMT"}, 24 * time.Hour},
		"centuries before": {503, []string{"Retry-After", "Mon, 01 Jan 0001 00:00:00 GMT", "Date",
			"Fri, 31 Dec 9999 23:59:59 GMT"}, time.Second},
		"negative":           {503, []string{"Retry-After", "-5"}, -1},
		"fraction":           {503, []string{"Retry-After", "1.5"}, -1},
		"neither of the two": {503, []string{"Retry-After", "soon"}, -1},
		"empty":              {503, []string{"Retry-After", ""}, -1},
		"missing":            {503, nil, -1},
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
		if !ok || asked.Delay > max(time.Second, time.Until(at)+time.Minute) ||
			asked.Delay < max(time.Second, time.Until(at)-time.Minute) {
			t.Errorf("error %v, want one that is tried again at %s", err, at)
		}
	}
}

// An attempt that a server refuses because of too many requests does not count, and the other jobs of its limits wait,
// too.
func TestTooManyRequestsAreARateLimit(t *testing.T) {
	pgtest.OnOneVersion(t)
	for name, c := range map[string]struct {
		status  int
		headers []string
		want    time.Duration // 0 for none
	}{
		"seconds": {429, []string{"Retry-After", "120"}, 2 * time.Minute},
		"time": {429, []string{"Retry-After", "Mon, 02 Jan 2006 15:05:35 GMT", "Date",
			"Mon, 02 Jan 2006 15:04:05 GMT"}, 90 * time.Second},
		"at once":        {429, []string{"Retry-After", "0"}, time.Second},
		"no time":        {429, nil, time.Second},
		"another status": {503, []string{"Retry-After", "120"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, answer(c.status, c.headers...))
			for _, permanent := range []bool{false, true} {
				err := post(t, task.HTTP{URL: server.URL, Permanent4xx: permanent}, newJob())
				got := time.Duration(0)
				if limited, ok := errors.AsType[*shim.RateLimitedError](err); ok {
					got = limited.RetryAfter
				}
				if err == nil || got != c.want {
					t.Errorf("rate limited for %s, want %s; error %v", got, c.want, err)
				}
				if !strings.HasPrefix(err.Error(), "POST "+server.URL+": answered ") {
					t.Errorf("the error is %q", err)
				}
			}
		})
	}
}

// A server that asks for the next attempt at once does not get all attempts of a job within a second.
func TestTheLeastDelayGrowsWithTheAttempts(t *testing.T) {
	pgtest.OnOneVersion(t)
	server := serve(t, answer(503, "Retry-After", "0"))
	var sum, before time.Duration
	for attempt := 1; attempt <= 25; attempt++ {
		job := newJob()
		job.Attempts = attempt
		asked, ok := errors.AsType[*shim.RetryError](post(t, task.HTTP{URL: server.URL}, job))
		if !ok || asked.Delay < before || asked.Delay > time.Minute {
			t.Fatalf("attempt %d: the delay is %v after %s", attempt, asked, before)
		}
		before, sum = asked.Delay, sum+asked.Delay
	}
	if sum < 15*time.Minute {
		t.Errorf("25 attempts take %s", sum)
	}
}

// Attempts that are refused because of too many requests never count, whatever the server says about the time.
func TestTooManyRequestsNeverCount(t *testing.T) {
	pgtest.OnOneVersion(t)
	for name, headers := range map[string][]string{
		"at once": {"Retry-After", "0"}, "no time": nil, "negative": {"Retry-After", "-5"},
		"fraction": {"Retry-After", "0.5"},
		"the past": {"Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT"}, "nonsense": {"Retry-After", "soon"},
	} {
		t.Run(name, func(t *testing.T) {
			isCrowded := true
			server := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if isCrowded {
					answer(429, headers...)(w, r)
				}
			})
			handler, err := task.HTTP{URL: server.URL}.Handler()
			if err != nil {
				t.Fatal(err)
			}
			limited := func() time.Duration {
				t.Helper()
				err := handler(t.Context(), newJob())
				if got, ok := errors.AsType[*shim.RateLimitedError](err); ok && got.RetryAfter > 0 {
					return got.RetryAfter
				}
				t.Fatalf("the error is %v, want a rate limit", err)
				return 0
			}
			first := limited()
			if again := limited(); first > time.Second || again > first { // sent before the wait was over
				t.Errorf("jobs wait for %s and %s", first, again)
			}
			time.Sleep(first) // the wait is over
			if second := limited(); second <= time.Second || second > 2*time.Second {
				t.Errorf("after the second refusal jobs wait for %s", second)
			}
			isCrowded = false
			if err := handler(t.Context(), newJob()); err != nil {
				t.Fatal(err)
			}
		})
	}
}
