package task

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter is the maximum delay that a server can request.
const maxRetryAfter = 24 * time.Hour

// retryAfter returns the delay that an answer requests; now is the time of the answer. The delay until a point in time is
// computed from the answer's Date, so that a wrong clock does not matter, and from now only without a Date.
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

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
