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
		"seconds":            {503, []string{"Retry-After", "120"}, 2 * time.Minute},
		"at once":            {503, []string{"Retry-After", "0"}, 0},
		"time":               {503, []string{"Retry-After", later, "Date", date}, 90 * time.Second},
		"time in the past":   {503, []string{"Retry-After", date, "Date", later}, 0},
		"with any status":    {500, []string{"Retry-After", "7"}, 7 * time.Second},
		"absurd seconds":     {503, []string{"Retry-After", "99999999999999999999999"}, 24 * time.Hour},
		"more than a day":    {503, []string{"Retry-After", "86401"}, 24 * time.Hour},
		"absurd time":        {503, []string{"Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"}, 24 * time.Hour},
		"just no number":     {503, []string{"Retry-After", "9223372036854775808"}, 24 * time.Hour},
		"zeros":              {503, []string{"Retry-After", "00000000000000000000000005"}, 5 * time.Second},
		"years too late":     {503, []string{"Retry-After", "Fri, 31 Dec 294276 23:59:59 GMT"}, -1},
		"centuries after":    {503, []string{"Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT", "Date", "Mon, 01 Jan 0001 00:00:00 GMT"}, 24 * time.Hour},
		"centuries before":   {503, []string{"Retry-After", "Mon, 01 Jan 0001 00:00:00 GMT", "Date", "Fri, 31 Dec 9999 23:59:59 GMT"}, 0},
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
		if !ok || asked.Delay > max(0, time.Until(at)+time.Minute) || asked.Delay < max(0, time.Until(at)-time.Minute) {
			t.Errorf("error %v, want one that is tried again at %s", err, at)
		}
	}
}

// An attempt that a server refuses because of too many requests does not count, and the other jobs of its limits wait, too.
func TestTooManyRequestsAreARateLimitIfTheServerSaysUntilWhen(t *testing.T) {
	pgtest.OnOneVersion(t)
	for name, c := range map[string]struct {
		status  int
		headers []string
		want    time.Duration // 0 for none
	}{
		"seconds":        {429, []string{"Retry-After", "120"}, 2 * time.Minute},
		"time":           {429, []string{"Retry-After", "Mon, 02 Jan 2006 15:05:35 GMT", "Date", "Mon, 02 Jan 2006 15:04:05 GMT"}, 90 * time.Second},
		"at once":        {429, []string{"Retry-After", "0"}, 0},
		"no time":        {429, nil, 0},
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
