package task

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// firstBytes is the number of bytes of a file that the kernel reads to determine its interpreter.
const firstBytes = 256

// CheckProgram returns an error with the reason why the program at path cannot be started in directory with env in
// addition to the worker's environment, nil if it finds none. It checks the file, its first line, and whether the
// interpreter that the line names exists. It returns nil for what it cannot check, such as a file that may be executed
// but not read.
func CheckProgram(path, directory string, env []string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	if !filepath.IsAbs(path) && strings.ContainsRune(path, filepath.Separator) {
		path = filepath.Join(directory, path)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist", path)
	case err != nil:
		return nil
	case info.IsDir():
		return fmt.Errorf("%s is a folder", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("%s is not executable, see chmod u+x", path)
	}
	line, isWhole, err := firstLine(path)
	if err != nil {
		return nil
	}
	if reason := badFirstLine(line, isWhole, path, directory, env); reason != "" {
		return fmt.Errorf("%s: %s", path, reason)
	}
	return nil
}

// startError returns the error of a program that could not be started because of err, with the reason if it is known.
func startError(cmd *exec.Cmd, err error) error {
	if known := CheckProgram(cmd.Path, cmd.Dir, cmd.Env); known != nil {
		err = known
	}
	return fmt.Errorf("start the task's program: %w", err)
}

// firstLine returns the first line of a file without its line end, or its first bytes if the line is longer. A line
// that ends with the file is whole.
func firstLine(path string) (line []byte, isWhole bool, err error) {
	file, err := openRegular(path)
	if err != nil {
		return nil, false, err
	}
	defer file.Close()
	first := make([]byte, firstBytes)
	n, err := io.ReadFull(file, first)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, false, err
	}
	line, _, isWhole = bytes.Cut(first[:n], []byte("\n"))
	return line, isWhole || n < firstBytes, nil
}

// byteOrderMark is written at the start of a file by some editors.
const byteOrderMark = "\xef\xbb\xbf"

// badFirstLine returns why the kernel cannot start a program that begins with this line, "" if it finds no reason.
func badFirstLine(line []byte, isWhole bool, path, directory string, env []string) string {
	text := string(line)
	interpreter, isScript := strings.CutPrefix(text, "#!")
	switch {
	case strings.HasPrefix(text, byteOrderMark+"#!"):
		return "there is a byte order mark before its #! line; save the file as UTF-8 without one"
	case !isScript && bytes.ContainsRune(line, 0):
		return "" // not a text: a binary for this machine, or for another one, which is not checked
	case !isScript && isModule(path):
		return "it is a JavaScript module that exports a function, not a program: it has no #! line. " + moduleHint
	case !isScript:
		return "its first line names no interpreter; a script begins with a line such as #!/bin/sh or #!/usr/bin/env python3"
	case strings.HasSuffix(text, "\r"):
		return fmt.Sprintf("its first line ends in CR LF, as on Windows, so that the kernel looks for the interpreter %q; "+
			"convert the file to LF, as with: sed -i 's/\\r$//'", strings.TrimLeft(interpreter, " \t"))
	case !isWhole:
		return ""
	}
	return badInterpreter(strings.Trim(interpreter, " \t"), directory, env)
}

// badInterpreter returns why a program cannot be started whose first line names this interpreter, followed by its
// argument.
func badInterpreter(named, directory string, env []string) string {
	path, argument, _ := strings.Cut(strings.ReplaceAll(named, "\t", " "), " ")
	if path == "" {
		return "its first line names no interpreter after #!"
	}
	file := path
	if !filepath.IsAbs(file) {
		file = filepath.Join(directory, file)
	}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("the interpreter %s that its first line names does not exist", path)
	case err == nil && (info.IsDir() || info.Mode()&0o111 == 0):
		return fmt.Sprintf("the interpreter %s that its first line names is not executable", path)
	case filepath.Base(path) == "env":
		return missingInEnv(strings.TrimSpace(argument), env)
	}
	return ""
}

// missingInEnv returns why env does not find the interpreter given as its argument in the first line of a script.
func missingInEnv(argument string, env []string) string {
	hasPath := func(variable string) bool { return strings.HasPrefix(variable, "PATH=") }
	words := strings.Fields(argument)
	switch {
	case len(words) == 0 || strings.HasPrefix(argument, "-") || strings.Contains(argument, "="):
		return "" // options and variables of env
	case slices.ContainsFunc(env, hasPath) && !slices.Contains(env, "PATH="+os.Getenv("PATH")):
		return ""
	case len(words) > 1 && runtime.GOOS == "linux":
		return fmt.Sprintf("its first line makes env look for an interpreter with the name %q; several words need env -S", argument)
	}
	if _, err := exec.LookPath(words[0]); errors.Is(err, exec.ErrNotFound) {
		return fmt.Sprintf("the interpreter %s that its first line names is not in $PATH", words[0])
	}
	return ""
}

const moduleHint = "use the key node of the config file to run it in Node.js, see docs/node.md"

var (
	moduleName   = regexp.MustCompile(`\.[cm]?[jt]s$`)
	moduleExport = regexp.MustCompile(`(?m)^\s*(export\s+default\b|export\s*\{|module\.exports\b|exports\.default\b)`)
)

// isModule reports whether the file at path is a module in JavaScript or TypeScript that exports something, as tasks of
// Graphile Worker for Node.js do, and has no #! line.
func isModule(path string) bool {
	if !moduleName.MatchString(path) {
		return false
	}
	file, err := openRegular(path)
	if err != nil {
		return false
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, 1<<20))
	return err == nil && !bytes.HasPrefix(text, []byte("#!")) && moduleExport.Match(text)
}
