package main

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed node/*.mjs
var nodeScripts embed.FS

// programs is a folder with the programs of the contenders.
type programs struct{ dir string }

// buildPrograms builds those in Go, and writes down the scripts of the one in JavaScript.
func buildPrograms(ctx context.Context) (_ *programs, err error) {
	dir, err := os.MkdirTemp("", "gw-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the programs: %w", err)
	}
	p := &programs{dir}
	defer func() {
		if err != nil {
			_ = p.remove()
		}
	}()
	build := exec.CommandContext(ctx, "go", "build", "-o", dir+string(filepath.Separator),
		"github.com/gwsql/gw/bench/worker/cmd/...")
	if output, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the programs: %w\n%s", err, output)
	}
	if err := os.CopyFS(dir, nodeScripts); err != nil {
		return nil, fmt.Errorf("write the scripts: %w", err)
	}
	return p, nil
}

// path returns where a program or script is.
func (p *programs) path(name string) string { return filepath.Join(p.dir, name) }

func (p *programs) remove() error {
	if err := os.RemoveAll(p.dir); err != nil {
		return fmt.Errorf("remove the programs: %w", err)
	}
	return nil
}
