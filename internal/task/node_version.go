package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// oldestNode is the oldest major version of Node.js that runs the bridge.
const oldestNode = 18

const nodeVersionTimeout = 30 * time.Second

// ErrNoNode means that there is no Node.js in $PATH.
var ErrNoNode = errors.New("there is no program node in $PATH")

// NodeProgram is a Node.js that can run modules.
type NodeProgram struct {
	Path string
	Args []string // the options with which it runs TypeScript, if it needs any
}

var nodeVersion = regexp.MustCompile(`^v(\d+)\.(\d+)\.`)

// FindNode returns the Node.js in $PATH. The error is [ErrNoNode], or that the program does not run or is too old.
func FindNode(ctx context.Context) (NodeProgram, error) {
	path, err := exec.LookPath("node")
	if err != nil {
		return NodeProgram{}, ErrNoNode
	}
	ctx, cancel := context.WithTimeout(ctx, nodeVersionTimeout)
	defer cancel()
	version, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return NodeProgram{}, fmt.Errorf("ask %s for its version: %w", path, err)
	}
	match := nodeVersion.FindSubmatch(version)
	if match == nil {
		return NodeProgram{}, fmt.Errorf("%s is not Node.js: it prints the version %q", path, excerpt(version))
	}
	major, _ := strconv.Atoi(string(match[1])) // digits
	minor, _ := strconv.Atoi(string(match[2]))
	if major < oldestNode {
		return NodeProgram{}, fmt.Errorf("%s is Node.js %d.%d, which is too old for task modules; they need %d or newer",
			path, major, minor, oldestNode)
	}
	program := NodeProgram{Path: path}
	if needsTypesOption(major, minor) && !hasLoader(os.Getenv("NODE_OPTIONS")) {
		program.Args = []string{"--experimental-strip-types"}
	}
	return program, nil
}

// needsTypesOption reports whether a version of Node.js runs TypeScript only with an option.
func needsTypesOption(major, minor int) bool {
	return major == 22 && minor >= 6 && minor < 18 || major == 23 && minor < 6
}

// hasLoader reports whether NODE_OPTIONS contain a loader, which may run TypeScript itself.
func hasLoader(options string) bool {
	return strings.Contains(options, "--import") || strings.Contains(options, "-loader") ||
		strings.Contains(options, "--require")
}
