package main

import (
	"io"
	"strings"
	"testing"
)

func TestWithoutADaemonTheErrorSaysSo(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
	err := run(t.Context(), []string{"17"}, strings.NewReader(""), io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "look for Docker") {
		t.Errorf("got %v", err)
	}
}

func TestWithoutAVersionTheUsageIsShown(t *testing.T) {
	if err := run(t.Context(), nil, strings.NewReader(""), io.Discard, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "usage") {
		t.Errorf("got %v", err)
	}
}
