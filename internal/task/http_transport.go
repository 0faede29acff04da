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
	// maxAnswerHeader bounds the headers of an answer.
	maxAnswerHeader = 64 << 10
	// pingAfter is how long an HTTP/2 connection may be silent before it is asked whether it lives.
	pingAfter = 15 * time.Second
)

// newTransport returns what keeps the connections: as many as jobs run at once. A proxy comes from the environment
// (HTTP_PROXY, HTTPS_PROXY, NO_PROXY).
func newTransport(caFile string, concurrency int) (*http.Transport, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns = 0 // no bound but the next
	transport.MaxIdleConnsPerHost = concurrency
	transport.MaxResponseHeaderBytes = maxAnswerHeader
	transport.DisableCompression = true
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter}
	if caFile == "" {
		return transport, nil
	}
	certificates, err := os.ReadFile(caFile)
	if wrapped, ok := errors.AsType[*fs.PathError](err); ok {
		err = wrapped.Err // without the path: who reads this knows it, and others need not
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
