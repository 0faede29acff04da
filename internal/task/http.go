package task

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/gwsql/gw/internal/webhook"
	"github.com/gwsql/gw/pkg/shim"
)

const defaultHTTPTimeout = time.Minute

// HTTP serves a task with requests to an HTTP server.
type HTTP struct {
	// URL is the http or https URL to which jobs are sent. In its path and query {task} stands for the task identifier
	// and {job_id} for the job's id, escaped as needed; slashes in a task identifier remain slashes in the path.
	URL string
	// Shown is the URL in error messages. Default: the URL of the job, without user, password and query. Set it if less
	// of the URL may be stored and logged.
	Shown string
	// Headers are sent with each job. Headers that this package sets itself are not allowed, except
	// Content-Type, Accept and User-Agent. Default: none.
	Headers map[string]string
	// Secrets are the keys of the signatures. For a rotation, list the new key beside the old one. Default: none,
	// and no signature.
	Secrets []webhook.Secret
	// Timeout is the maximum duration of one job, up to the end of the answer. Default: 1 minute.
	Timeout time.Duration
	// Permanent4xx fails a job permanently if the answer has a status from 400 to 499, other than 408, 425 and 429.
	// Default: it is tried again as after any failure. Set it for servers whose 4xx status means that the same request
	// will fail again.
	Permanent4xx bool
	// CAFile is a file with the certificates of the authorities to trust, in PEM form. Default: those that the system
	// trusts.
	CAFile string
	// Schema is the schema of the queue, which is part of the id of a request. Default: "graphile_worker".
	Schema string
	// Concurrency is the number of jobs that the worker runs at once, and the number of connections that are kept.
	// Default: 1.
	Concurrency int
}

// Handler returns the handler that sends each job, or all problems of h. Connections that are idle for some time are
// closed.
//
// A complete answer with a status from 200 to 299 completes the job. Anything else fails it, with the status and the
// beginning of the answer, after the delay that the answer asks for by Retry-After.
func (h HTTP) Handler() (shim.Handler, error) {
	h.Timeout = cmp.Or(h.Timeout, defaultHTTPTimeout)
	h.Schema = cmp.Or(h.Schema, "graphile_worker")
	target, urlErr := parseURLTemplate(h.URL, h.Shown != "")
	header, host, headerErr := fixedHeader(h.Headers)
	transport, transportErr := newTransport(h.CAFile, max(h.Concurrency, 1))
	var timeoutErr error
	if h.Timeout < 0 {
		timeoutErr = fmt.Errorf("timeout is %s, must be positive", h.Timeout)
	}
	if err := errors.Join(urlErr, headerErr, timeoutErr, transportErr); err != nil {
		return nil, err
	}
	p := &poster{
		HTTP:   h,
		target: target,
		header: header,
		host:   host,
		client: &http.Client{Transport: transport, CheckRedirect: followSameOrigin},
	}
	return p.run, nil
}

type poster struct {
	HTTP
	target urlTemplate
	header http.Header // of every request
	host   string      // the header Host, empty for the host of the URL
	client *http.Client
	crowd  crowd
}

func (p *poster) run(ctx context.Context, job *shim.Job) error {
	ctx, cancel := context.WithTimeoutCause(ctx, p.Timeout, errTimeout)
	defer cancel()
	target, err := p.target.expand(job)
	if err != nil {
		return err
	}
	response, err := p.client.Do(p.request(ctx, target, job))
	if err != nil {
		return p.broken(ctx, target, err)
	}
	defer response.Body.Close()
	return p.judge(ctx, job, response)
}

// request returns the request for a job. Its body can be sent again, as after a redirect.
func (p *poster) request(ctx context.Context, target *url.URL, job *shim.Job) *http.Request {
	header, id := p.header.Clone(), p.requestID(job)
	describeJob(header, id, job)
	if len(p.Secrets) > 0 {
		webhook.Sign(header, p.Secrets, id, time.Now(), job.Payload)
	}
	body := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(job.Payload)), nil }
	first, _ := body() // never fails
	request := &http.Request{
		Method:        http.MethodPost,
		URL:           target,
		Host:          p.host,
		Header:        header,
		Body:          first,
		GetBody:       body,
		ContentLength: int64(len(job.Payload)),
	}
	return request.WithContext(ctx)
}

// broken returns the error to store for a request without an answer.
func (p *poster) broken(ctx context.Context, target *url.URL, err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the URL, whose query may hold a secret
	}
	switch {
	case ctx.Err() != nil:
		err = p.ended(ctx)
	case errors.Is(err, io.EOF):
		err = errors.New("the server closed the connection before it answered")
	}
	return fmt.Errorf("POST %s: %w", p.shown(target), err)
}

// ended returns the error to store if the context has ended, otherwise nil.
func (p *poster) ended(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, errTimeout) {
		return fmt.Errorf("%w after %s", errTimeout, p.Timeout)
	}
	return cause
}

const (
	// maxAnswerHeader is the maximum size of an answer's headers, in bytes.
	maxAnswerHeader = 64 << 10
	// pingAfter is the time without data after which an HTTP/2 connection is checked with a ping.
	pingAfter = 15 * time.Second
)

// newTransport returns a transport that keeps as many connections as jobs run at once. It uses the proxy of the
// environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY).
func newTransport(caFile string, concurrency int) (*http.Transport, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns = 0 // no limit, except the next one
	transport.MaxIdleConnsPerHost = concurrency
	transport.MaxResponseHeaderBytes = maxAnswerHeader
	transport.DisableCompression = true
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter}
	if caFile == "" {
		return transport, nil
	}
	certificates, err := os.ReadFile(caFile)
	if wrapped, ok := errors.AsType[*fs.PathError](err); ok {
		err = wrapped.Err // without the path, which the user knows and which need not be logged
	}
	if err != nil {
		return nil, fmt.Errorf("read CA file: %w", err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(certificates) {
		return nil, errors.New("read CA file: it contains no certificate in PEM form")
	}
	transport.TLSClientConfig = &tls.Config{RootCAs: authorities}
	return transport, nil
}
