package pgtemp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	// defaultMirror is Maven Central, where zonky.io publishes archives of the server's binaries.
	defaultMirror = "https://repo1.maven.org/maven2"

	connectTimeout = 10 * time.Second // for TCP, and again for TLS
	answerTimeout  = 15 * time.Second // from the request to the first byte of the answer
	stallTimeout   = 15 * time.Second // between two reads of the archive
)

// A download downloads the archive of the server's binaries for this machine.
type download struct {
	mirror *url.URL
	client *http.Client
	stall  time.Duration
	status *status
}

// ParseMirror checks the URL of a Maven repository for [Options.Mirror].
func ParseMirror(text string) (*url.URL, error) {
	mirror, err := url.Parse(strings.TrimSuffix(text, "/"))
	if err != nil || mirror.Host == "" || mirror.Scheme != "http" && mirror.Scheme != "https" {
		return nil, errors.New("the mirror for downloads is not an http or https URL")
	}
	return mirror, nil
}

func newDownload(o Options) (*download, error) {
	mirror, err := ParseMirror(cmp.Or(o.Mirror, defaultMirror))
	if err != nil {
		return nil, err
	}
	return &download{mirror: mirror, stall: stallTimeout, status: o.status, client: &http.Client{
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: connectTimeout}).DialContext,
			TLSHandshakeTimeout:   connectTimeout,
			ResponseHeaderTimeout: answerTimeout,
		},
	}}, nil
}

// save writes the archive to a new file and compares it with the mirror's checksum if there is one. Its errors explain
// why the download failed.
func (d *download) save(ctx context.Context, path string) error {
	sum, err := d.saveArchive(ctx, path)
	if err != nil {
		return d.explain(err)
	}
	want, err := d.checksum(ctx)
	if err != nil {
		return d.explain(err)
	}
	if want != "" && want != sum {
		return fmt.Errorf("the archive from %s is damaged: its SHA-256 is %s, and should be %s", d.mirror.Host, sum,
			want)
	}
	return nil
}

// saveArchive writes the archive to a new file and returns its SHA-256.
func (d *download) saveArchive(ctx context.Context, path string) (sum string, err error) {
	body, size, err := d.get(ctx, archivePath())
	if err != nil {
		return "", err
	}
	defer body.Close()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	hash := sha256.New()
	count := &counter{report: func(n int64) { d.status.set(progress(n, size)) }}
	if _, err := io.Copy(io.MultiWriter(file, hash, count), body); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), nil
}

// checksum returns the archive's SHA-256 in hexadecimal from the mirror, empty if the mirror has none.
func (d *download) checksum(ctx context.Context) (string, error) {
	body, _, err := d.get(ctx, archivePath()+".sha256")
	if answer, ok := errors.AsType[statusError](err); ok && answer.code == http.StatusNotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, 1000))
	if err != nil {
		return "", err
	}
	sum, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	return strings.ToLower(sum), nil
}

// get returns the mirror's content at a path and its size in bytes, -1 if that is not known. Reads fail with errStalled
// if no data arrives for stallTimeout.
func (d *download) get(ctx context.Context, path string) (io.ReadCloser, int64, error) {
	d.status.set("waiting for an answer from " + d.mirror.Host)
	ctx, cancel := context.WithCancelCause(ctx)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.mirror.JoinPath(path).String(), nil)
	if err != nil {
		cancel(nil)
		return nil, 0, err
	}
	answer, err := d.client.Do(request)
	if err != nil {
		cancel(nil)
		return nil, 0, err
	}
	if answer.StatusCode != http.StatusOK {
		cancel(nil)
		return nil, 0, errors.Join(statusError{answer.StatusCode}, answer.Body.Close())
	}
	body := &stallReader{ctx: ctx, cancel: cancel, body: answer.Body, patience: d.stall}
	body.timer = time.AfterFunc(d.stall, func() { cancel(errStalled) })
	return body, answer.ContentLength, nil
}

// stallReader is a body whose reads fail if no data arrives for a while.
type stallReader struct {
	ctx      context.Context
	cancel   context.CancelCauseFunc
	body     io.ReadCloser
	timer    *time.Timer
	patience time.Duration
}

func (i *stallReader) Read(p []byte) (int, error) {
	i.timer.Reset(i.patience)
	n, err := i.body.Read(p)
	if err != nil && errors.Is(context.Cause(i.ctx), errStalled) {
		err = errStalled
	}
	return n, err
}

func (i *stallReader) Close() error {
	i.timer.Stop()
	i.cancel(nil)
	return i.body.Close()
}

// counter is a writer that reports how many bytes were written to it.
type counter struct {
	n      int64
	report func(int64)
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	c.report(c.n)
	return len(p), nil
}

func progress(n, size int64) string {
	const megabyte = 1e6
	if size < 0 {
		return fmt.Sprintf("downloading: %.1f MB", float64(n)/megabyte)
	}
	return fmt.Sprintf("downloading: %.1f of %.1f MB", float64(n)/megabyte, float64(size)/megabyte)
}

// archivePath returns the path of the archive for this machine in a Maven repository.
func archivePath() string {
	artifact := "embedded-postgres-binaries-" + platform(runtime.GOOS, runtime.GOARCH)
	return fmt.Sprintf("io/zonky/test/postgres/%[1]s/%[2]s/%[1]s-%[2]s.jar", artifact, fetchedVersion)
}

// platform returns zonky.io's name of an operating system and processor.
func platform(system, processor string) string {
	switch processor {
	case "arm64":
		processor = "arm64v8"
	case "arm":
		processor = "arm32v7"
	case "386":
		processor = "i386"
	}
	if _, err := os.Stat("/etc/alpine-release"); err == nil {
		processor += "-alpine"
	}
	return system + "-" + processor
}

// errStalled is the cause with which a download ends if no data arrives for stallTimeout.
var errStalled = errors.New("stalled")

// A statusError is an answer other than 200 OK.
type statusError struct{ code int }

func (e statusError) Error() string {
	return fmt.Sprintf("HTTP %d %s", e.code, http.StatusText(e.code))
}

// explain returns an error that says why a request to the mirror failed: because of the name, the network, the mirror
// or this machine.
func (d *download) explain(err error) error {
	if errors.Is(err, context.Canceled) && !errors.Is(err, errStalled) {
		return err
	}
	host := d.mirror.Host
	var answer statusError
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var timeout net.Error
	switch {
	case errors.As(err, &answer):
		return d.explainStatus(answer)
	case errors.Is(err, errStalled):
		return fmt.Errorf("%s stalls: no data has arrived for %s", host, d.stall)
	case errors.As(err, &name) && name.IsNotFound:
		return fmt.Errorf("there is no DNS entry for the name %s", name.Name)
	case errors.As(err, &name):
		return fmt.Errorf("the DNS does not resolve the name %s (%s)", name.Name, name.Err)
	case errors.As(err, &certificate):
		return fmt.Errorf("the certificate of %s is not trusted (%w); the package ca-certificates has the usual authorities, "+
			"and a company's proxy may need its own", host, certificate.Err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%s refuses the connection", peer(err, host))
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return fmt.Errorf("there is no route to %s", peer(err, host))
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%s does not answer (%w)", host, inner(err))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return fmt.Errorf("%s closed the connection during the download", host)
	default:
		return fmt.Errorf("%s: %w", host, inner(err))
	}
}

func (d *download) explainStatus(answer statusError) error {
	switch answer.code {
	case http.StatusNotFound:
		return fmt.Errorf("%s has no PostgreSQL %s for %s (%w)", d.mirror.Redacted(), fetchedVersion,
			platform(runtime.GOOS, runtime.GOARCH), answer)
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return fmt.Errorf("%s, or a proxy before it, forbids the download (%w)", d.mirror.Host, answer)
	default:
		return fmt.Errorf("%s answers with %w", d.mirror.Host, answer)
	}
}

// peer returns the address of the failed connection: the mirror's, or that of a proxy.
func peer(err error, host string) string {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Addr != nil {
		return fmt.Sprintf("%s (%s)", host, op.Addr)
	}
	return host
}

// inner returns the error without the method and the URL that net/http adds.
func inner(err error) error {
	if request, ok := errors.AsType[*url.Error](err); ok {
		return request.Err
	}
	return err
}
