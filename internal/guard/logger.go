package guard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
)

// Logger returns a logger that writes to the same handler and outlives its panics: the line is lost, and the first
// panic is reported on stderr.
func Logger(logger *slog.Logger) *slog.Logger {
	if _, isGuarded := logger.Handler().(*handler); isGuarded {
		return logger
	}
	report := new(sync.Once)
	return slog.New(&handler{next: logger.Handler(), once: report})
}

type handler struct {
	next slog.Handler
	once *sync.Once // for all handlers that were made of one
}

// report reports the first fault of the handler.
func (h *handler) report(fault error) {
	if fault != nil {
		h.once.Do(func() {
			fmt.Fprintf(os.Stderr, "gw: log lines are lost, because the slog.Handler %T does not return: %s\n", h.next,
				fault)
		})
	}
}

// Enabled is called for each job, so it does not use Call, which starts a goroutine.
func (h *handler) Enabled(ctx context.Context, level slog.Level) (enabled bool) {
	defer func() {
		if v := recover(); v != nil {
			h.report(errors.New(Value(v)))
		}
	}()
	return h.next.Enabled(ctx, level)
}

func (h *handler) Handle(ctx context.Context, record slog.Record) (err error) {
	h.report(Call(func() { err = h.next.Handle(ctx, record) }))
	return err
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.with(func() slog.Handler { return h.next.WithAttrs(attrs) })
}

func (h *handler) WithGroup(name string) slog.Handler {
	return h.with(func() slog.Handler { return h.next.WithGroup(name) })
}

// with returns the handler that derive makes of the next one, or h itself if derive panics or returns none.
func (h *handler) with(derive func() slog.Handler) (derived slog.Handler) {
	derived = h
	h.report(Call(func() {
		if next := derive(); next != nil {
			derived = &handler{next: next, once: h.once}
		}
	}))
	return derived
}
