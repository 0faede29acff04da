package pgtemp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"syscall"
)

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
