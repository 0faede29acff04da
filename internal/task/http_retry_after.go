package task

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxRetryAfter is the maximum delay that a server can request.
const maxRetryAfter = 24 * time.Hour

// retryAfter returns the delay that an answer requests; now is the time of the answer. The delay until a point in time
// is computed from the answer's Date, so that a wrong clock does not matter, and from now only without a Date.
func retryAfter(header http.Header, now time.Time) (delay time.Duration, ok bool) {
	text := strings.TrimSpace(header.Get("Retry-After"))
	if isNumber(text) {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds > int64(maxRetryAfter/time.Second) {
			return maxRetryAfter, true
		}
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date
	}
	return min(max(at.Sub(now), 0), maxRetryAfter), true
}

// maxLeastDelay is the maximum of the delay below which a server cannot ask for the next attempt.
const maxLeastDelay = time.Minute

// leastDelay returns the least delay after some attempts in a row: a server that asks for the next one at once, or
// soon, each time, would get all attempts of a job within seconds.
func leastDelay(attempts int) time.Duration {
	return min(time.Second<<min(max(attempts-1, 0), 6), maxLeastDelay)
}

// crowd counts how often in a row a server has answered that there are too many requests. These attempts do not count,
// so that the number of attempts of a job does not tell.
type crowd struct {
	mu    sync.Mutex
	times int
	until time.Time // of the last wait
}

// wait returns for how long jobs wait that the server has refused and asked to wait for delay. Requests that were sent
// before the last wait was over do not make it longer.
func (c *crowd) wait(delay time.Duration, now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !now.Before(c.until) {
		c.times++
		c.until = now.Add(leastDelay(c.times))
	}
	return max(delay, c.until.Sub(now))
}

// reset begins to count anew, after another answer.
func (c *crowd) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.times = 0
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
