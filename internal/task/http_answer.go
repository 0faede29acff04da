package task

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
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
	text := string(start)
	if len(text) > maxAnswerText {
		end := maxAnswerText
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + "\n[truncated]"
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
