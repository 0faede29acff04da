package task

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"time"
)

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
