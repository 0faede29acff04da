// Package health reports the health of a worker of this process over HTTP, for orchestrators.
//
// A worker is alive as long as its loops run; a worker that is not alive should be restarted. It is ready if it can
// work: it has its connections and its claims succeed. A worker without its database is alive but not ready, because a
// restart would not help.
package health

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// readTimeout is the timeout of reading a request.
	readTimeout = 5 * time.Second
	// pingTimeout is the timeout of a ping of the database.
	pingTimeout = 2 * time.Second
	// pingMaxAge is how long the result of a ping is used for further requests.
	pingMaxAge = time.Second
)

// A Config configures a [Server].
type Config struct {
	// Monitor is the monitor of the worker.
	Monitor *Monitor

	// Ping checks that the database answers.
	Ping func(context.Context) error

	// Metrics serves /metrics.
	Metrics http.Handler

	// Logger receives errors of the server.
	Logger *slog.Logger
}

// A Server answers at /livez, /readyz and /metrics. Make it with [Serve].
type Server struct {
	cfg     Config
	address string
	server  *http.Server

	mu      sync.Mutex // held during a ping, so that concurrent requests share its result
	pinged  time.Time
	pingErr error
}

// Serve listens at an address, as in [net.Listen], and answers requests in the background until Close.
func Serve(address string, cfg Config) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve HTTP: %w", err)
	}
	s := &Server{cfg: cfg, address: listener.Addr().String()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", s.livez)
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.Handle("GET /metrics", cfg.Metrics)
	s.server = &http.Server{
		Handler:     mux,
		ReadTimeout: readTimeout,
		ErrorLog:    slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelWarn),
	}
	go func() {
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			cfg.Logger.Error("HTTP server stopped", "error", err)
		}
	}()
	return s, nil
}

// Address returns the address at which the server listens.
func (s *Server) Address() string { return s.address }

// Close stops the server and aborts running requests.
func (s *Server) Close() {
	_ = s.server.Close() // its errors come from a listener that is closed already
}

// answer is the body of /livez and /readyz.
type answer struct {
	Status  string   `json:"status"` // "ok" or "failed"
	Reasons []string `json:"reasons,omitempty"`
}

func (s *Server) livez(w http.ResponseWriter, _ *http.Request) { s.reply(w, s.cfg.Monitor.Stuck()) }

func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	reasons := s.cfg.Monitor.Unready()
	if reasons == nil {
		if err := s.ping(); err != nil {
			reasons = []string{fmt.Sprintf("database cannot be reached: %v", err)}
		}
	}
	s.reply(w, reasons)
}

// ping finds a lost database before the next claim does, for example while all handlers are busy.
func (s *Server) ping() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.pinged) < pingMaxAge {
		return s.pingErr
	}
	ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
	defer cancel()
	s.pingErr = s.cfg.Ping(ctx)
	s.pinged = time.Now()
	return s.pingErr
}

func (s *Server) reply(w http.ResponseWriter, reasons []string) {
	code, body := http.StatusOK, answer{Status: "ok"}
	if len(reasons) > 0 {
		code, body = http.StatusServiceUnavailable, answer{Status: "failed", Reasons: reasons}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // fails only if the client is gone
}
