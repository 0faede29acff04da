package task

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gwsql/gw/internal/build"
	"github.com/gwsql/gw/pkg/shim"
)

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// reservedHeaders are headers that only this package or the HTTP client may set.
var reservedHeaders = []string{
	"Connection", "Content-Length", "Idempotency-Key", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// fixedHeader returns the headers that are sent with every job, and the value of the header Host, which is set in
// another way.
func fixedHeader(extra map[string]string) (header http.Header, host string, err error) {
	header = http.Header{
		"Content-Type": {"application/json"},
		"User-Agent":   {"gw-run/" + strings.Trim(build.Read().Version, "()")},
	}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		value, canonical := extra[name], textproto.CanonicalMIMEHeaderKey(name)
		switch {
		case !headerName.MatchString(name):
			problems = append(problems, fmt.Errorf("header %q: this is not a valid header name", name))
		case slices.Contains(reservedHeaders, canonical), strings.HasPrefix(canonical, "Gw-"),
			strings.HasPrefix(canonical, "Webhook-"):
			problems = append(problems, fmt.Errorf("header %s cannot be set, it is sent with every job or by HTTP itself", name))
		case strings.ContainsFunc(value, isControl):
			problems = append(problems, fmt.Errorf("header %s: its value contains a control character", name))
		case canonical == "Host":
			host = value
		default:
			header.Set(canonical, value)
		}
	}
	return header, host, errors.Join(problems...)
}

// isControl reports whether a header cannot contain a character. The tab is the only control character that it can
// contain.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7F }

// requestID returns an id that is the same for all attempts of a job, and different for all other requests: the schema,
// the job's id, its revision, which increases when the job is replaced by its key, and the task, separated by slashes.
// The parts contain neither slashes nor dots.
func (p *poster) requestID(job *shim.Job) string {
	return encoded(p.Schema, "/.") + "/" + strconv.FormatInt(job.ID, 10) + "/" + strconv.Itoa(job.Revision) + "/" +
		encoded(job.TaskIdentifier, "/.")
}

// describeJob sets the headers about a job; id is the id of its request.
func describeJob(header http.Header, id string, job *shim.Job) {
	header["Gw-Task"] = []string{encoded(job.TaskIdentifier, "")}
	header["Gw-Job-Id"] = []string{strconv.FormatInt(job.ID, 10)}
	header["Gw-Attempt"] = []string{strconv.Itoa(job.Attempts)}
	header["Gw-Max-Attempts"] = []string{strconv.Itoa(job.MaxAttempts)}
	header["Idempotency-Key"] = []string{id}
	if job.Key != "" {
		header["Gw-Key"] = []string{encoded(job.Key, "")}
	}
	if !job.RunAt.IsZero() {
		header["Gw-Run-At"] = []string{job.RunAt.UTC().Format(runAtFormat)}
	}
}

// encoded encodes a text for a header: visible ASCII characters stand for themselves, except % and those in reserved;
// all other bytes are percent-encoded, as in a URL.
func encoded(s, reserved string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(s) {
		if c > ' ' && c < 0x7F && c != '%' && strings.IndexByte(reserved, c) < 0 {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return b.String()
}
