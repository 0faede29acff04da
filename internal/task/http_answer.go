package task

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gwsql/gw/pkg/shim"
)

const (
	// maxAnswer is the number of bytes of an answer that are read, so that its connection can be reused, and of an
	// answer that is a result.
	maxAnswer = 1 << 20
	// maxAnswerText is the number of bytes of an answer that are stored.
	maxAnswerText = 4 << 10
)

// judge converts an answer to the outcome of the job.
func (p *poster) judge(ctx context.Context, job *shim.Job, response *http.Response) error {
	isSuccess := response.StatusCode/100 == 2
	most := maxAnswerText + utf8.UTFMax
	if isSuccess && answersJSON(response.Header) {
		most = maxAnswer + 1
	}
	start, err := readAnswer(response.Body, most)
	message := "POST " + p.shown(response.Request.URL) + ": answered " + status(response.StatusCode)
	if response.StatusCode != http.StatusTooManyRequests {
		p.crowd.reset()
	}
	if isSuccess {
		if err := p.confirm(ctx, message, err); err != nil || most <= maxAnswer {
			return err
		}
		return takeAnswer(job, start)
	}
	for _, text := range []string{p.redirected(response), answerText(start)} {
		if text != "" {
			message += "\n" + text
		}
	}
	failure := errors.New(message)
	if p.Permanent4xx && isPermanent(response.StatusCode) {
		return shim.Discard(failure)
	}
	delay, ok := retryAfter(response.Header, time.Now())
	switch {
	case response.StatusCode == http.StatusTooManyRequests:
		return fmt.Errorf("%s (%w)", message, shim.RateLimited(p.crowd.wait(delay, time.Now())))
	case ok:
		return shim.RetryIn(max(delay, leastDelay(job.Attempts)), failure)
	}
	return failure
}

// confirm completes the job only if the answer was complete, because a server that breaks off an answer may
// have broken off its work as well.
func (p *poster) confirm(ctx context.Context, message string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		err = p.ended(ctx)
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the server closed the connection within its answer")
	}
	return fmt.Errorf("%s, but not to the end: %w", message, err)
}

// isPermanent reports whether a status means that the same request will be refused again.
func isPermanent(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status/100 == 4
}

// takeAnswer makes the JSON of an answer the result of the job. An answer that is no JSON, or longer than maxAnswer, is
// none.
func takeAnswer(job *shim.Job, answer []byte) error {
	answer = bytes.TrimSpace(answer)
	if len(answer) > maxAnswer || !json.Valid(answer) || !utf8.Valid(answer) {
		return nil
	}
	return job.SetResult(json.RawMessage(answer))
}

// readAnswer returns the beginning of an answer, most bytes of it, and reads the rest up to a limit.
func readAnswer(body io.Reader, most int) (start []byte, err error) {
	start, err = io.ReadAll(io.LimitReader(body, int64(most)))
	if err == nil {
		_, err = io.CopyN(io.Discard, body, maxAnswer)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return start, err
}

// answerText returns the beginning of an answer as text that can be stored and read.
func answerText(start []byte) string {
	text, isCut := beginning(string(start), maxAnswerText)
	if isCut {
		text += "\n[truncated]"
	}
	return strings.TrimSpace(strings.Map(readable, strings.ReplaceAll(storable(text), "\r\n", "\n")))
}

// readable replaces control characters.
func readable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return utf8.RuneError
	}
	return r
}

// status returns a status with its name, if it has one.
func status(code int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
}

// maxRetryAfter is the maximum delay that a server can request.
const maxRetryAfter = 24 * time.Hour

// retryAfter returns the delay that an answer requests; now is the time of the answer. The delay until a point in time
// is computed from the answer's Date, so that a wrong clock does not matter, and from now only without a Date.
func retryAfter(header http.Header, now time.Time) (delay time.Duration, ok bool) {
	text := strings.TrimSpace(header.Get("Retry-After"))
	if text != "" && strings.Trim(text, "0123456789") == "" {
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
