package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheServerOfTheEnvironmentIsTakenAndNotStopped(t *testing.T) {
	found, err := find(t.Context(), environment("postgres://given"), unexpected(t))
	if err != nil || found.url != "postgres://given" {
		t.Fatalf("got %q, %v", found.url, err)
	}
	if err := found.stop(); err != nil {
		t.Error(err)
	}
}

func TestTheFirstSourceWithAServerIsTaken(t *testing.T) {
	found, err := find(t.Context(), environment(""), absent("no binaries"), present("postgres://docker"), unexpected(t))
	if err != nil || found.url != "postgres://docker" {
		t.Errorf("got %q, %v", found.url, err)
	}
}

func TestWithoutAServerOneMessageNamesEverySourceAndTheWayOut(t *testing.T) {
	_, err := find(t.Context(), environment(""), absent("no binaries"), absent("no daemon"))
	for _, want := range []string{"no binaries", "no daemon", "make deps", serverVariable} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in %v", want, err)
		}
	}
}

func TestAServerOfAProgramIsStoppedByTheEndOfItsInput(t *testing.T) {
	ended := filepath.Join(t.TempDir(), "ended")
	found, err := programServer(t.Context(), io.Discard, "sh", "-c", `echo postgres://docker; cat; touch "$0"`, ended)
	if err != nil || found.url != "postgres://docker" {
		t.Fatalf("got %q, %v", found.url, err)
	}
	if _, err := os.Stat(ended); err == nil {
		t.Error("it has ended before it was told to")
	}
	if err := found.stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(ended); err != nil {
		t.Error(err)
	}
}

func TestAProgramWithoutAServerIsNone(t *testing.T) {
	var log strings.Builder
	if _, err := programServer(t.Context(), &log, "sh", "-c", "echo no daemon >&2; exit 1"); err == nil ||
		log.String() != "no daemon\n" {
		t.Errorf("got %v, %q", err, log.String())
	}
}

func TestTheCommandGetsTheServerAndItsExitCodeIsOurs(t *testing.T) {
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"--", "sh", "-c", `echo "$GW_TEST_DATABASE_URL"; exit 7`},
		environment("postgres://given"), &out, &errs)
	if code != 7 || out.String() != "postgres://given\n" || errs.Len() > 0 {
		t.Errorf("got %d, %q, %q", code, out.String(), errs.String())
	}
}

func TestASignalReachesTheCommand(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signals <- os.Interrupt
	code, err := command([]string{"sh", "-c", "exec sleep 60"}, "", signals, io.Discard, io.Discard)
	if code != 130 || err != nil {
		t.Errorf("got %d, %v", code, err)
	}
}

func TestACommandThatIsMissingIsNamed(t *testing.T) {
	var errs bytes.Buffer
	if code := run(t.Context(), []string{"no-such-command"}, environment("postgres://given"), io.Discard,
		&errs); code != 1 {
		t.Errorf("got %d", code)
	}
	if !strings.Contains(errs.String(), "no-such-command") {
		t.Errorf("got %q", errs.String())
	}
}

func TestWithoutACommandTheUsageIsShown(t *testing.T) {
	var errs bytes.Buffer
	if code := run(t.Context(), []string{"--"}, environment(""), io.Discard, &errs); code != exitUsage ||
		!strings.Contains(errs.String(), "usage") {
		t.Errorf("got %d, %q", code, errs.String())
	}
}

func environment(server string) func(string) string {
	return func(name string) string {
		if name == serverVariable {
			return server
		}
		return ""
	}
}

func absent(reason string) source {
	return func(context.Context) (server, error) { return server{}, errors.New(reason) }
}

func present(url string) source {
	return func(context.Context) (server, error) { return server{url: url}, nil }
}

func unexpected(t *testing.T) source {
	return func(context.Context) (server, error) {
		t.Error("a later source was asked")
		return server{}, nil
	}
}
