package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// programs is a folder with gw-run and with what it is measured against.
type programs struct{ dir string }

func buildPrograms(ctx context.Context) (*programs, error) {
	dir, err := os.MkdirTemp("", "gw-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the programs: %w", err)
	}
	p := &programs{dir}
	// gw-run belongs to another module, which knows what it needs.
	root, err := output(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/gwsql/gw")
	if err == nil {
		_, err = output(ctx, "go", "-C", root, "build", "-o", p.path("gw-run"), "./cmd/gw-run")
	}
	if err == nil {
		_, err = output(ctx, "go", "build", "-o", p.path("noop"), "github.com/gwsql/gw/bench/kinds/cmd/noop")
	}
	if err != nil {
		p.remove()
		return nil, fmt.Errorf("build the programs: %w", err)
	}
	return p, nil
}

// output runs a program and returns what it prints, without the line end.
func output(ctx context.Context, name string, args ...string) (string, error) {
	text, err := exec.CommandContext(ctx, name, args...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("%s: %w\n%s", name, err, exit.Stderr)
	}
	return strings.TrimSpace(string(text)), err
}

// path returns where a program or another file is.
func (p *programs) path(name string) string { return filepath.Join(p.dir, name) }

func (p *programs) remove() { _ = os.RemoveAll(p.dir) }
