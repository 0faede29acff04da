// Package config reads gw-run's config file: settings that correspond to the command's flags, forbidden flags, and how
// each task is served. It checks the whole file, and returns every problem with its line and column.
package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/gwsql/gw/internal/hint"
)

// File is the content of a config file.
type File struct {
	Path string

	// Settings are those that mirror flags, in the order of the file.
	Settings []Setting

	ForbiddenFlags ForbiddenFlags

	// Limits are those to set in the database, in the order of the file.
	Limits []Limit

	// Tasks are how tasks are served, by their names.
	Tasks map[string]Task
}

// Setting is a setting that mirrors a flag.
type Setting struct {
	Key      Key
	Value    string // as given to the flag, which takes each of several texts as name=text; paths are absolute
	Text     Expanded
	Position Position
}

// ForbiddenFlags are flags of jobs that this worker does not claim: a list, or the first column of a query.
type ForbiddenFlags struct {
	List     []string
	Query    string
	Position Position
}

// Load reads the file at path. Its errors are [Problems], except errors of reading the file. getenv looks up the
// environment variables that the file refers to.
func Load(path string, getenv func(string) string) (*File, error) {
	if isPreset(path) {
		return nil, Problems{{Position: Position{Path: path}, Message: presetMessage()}}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	return Parse(path, string(text), getenv)
}

// Parse parses the text of the file at path. Relative paths in it are relative to the folder of path.
func Parse(path, text string, getenv func(string) string) (*File, error) {
	r := &reader{path: path, getenv: getenv, anchors: make(map[string]ast.Node)}
	file := &File{Path: path, Tasks: make(map[string]Task)}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	settings := Settings()
	for _, e := range r.entries(r.body(text), Position{Path: path, Line: 1, Column: 1}, "a config file") {
		i := slices.IndexFunc(settings, func(k Key) bool { return k.Name == e.name })
		switch {
		case i >= 0:
			r.setting(file, e, settings[i], dir)
		case e.name == "forbidden_flags":
			file.ForbiddenFlags = r.forbiddenFlags(e)
		case e.name == "limits":
			r.limits(file, e)
		case e.name == "tasks":
			r.tasks(file, e, dir)
		default:
			r.unknown(e, "", names(settings, Top()))
		}
	}
	if err := r.problems.OrNil(); err != nil {
		return nil, err
	}
	return file, nil
}

// unknown reports a key that does not exist. where completes the message, such as " in a task".
func (r *reader) unknown(e entry, where string, known []string) {
	advice := "the keys are " + strings.Join(known, ", ")
	if meant := hint.Nearest(e.name, known, max(len(e.name)/3, 2)); meant != "" {
		advice = "is " + meant + " meant?"
	}
	r.refuse(e.at, "there is no key %s%s; %s", e.name, where, advice)
}

func (r *reader) setting(file *File, e entry, key Key, dir string) {
	if key.Takes == Texts {
		for _, pair := range r.entries(e.value, r.valueAt(e), e.name) {
			text := r.text(pair)
			file.Settings = append(file.Settings, Setting{key, pair.name + "=" + text.Value, text, r.valueAt(pair)})
		}
		return
	}
	before := len(r.problems)
	var value string
	switch key.Takes {
	case Number:
		value = fmt.Sprint(r.number(e, Most))
	case Time:
		value = r.time(e).String()
	case Grace:
		value = r.timeOrZero(e).String()
	case YesNo:
		value = fmt.Sprint(r.yes(e))
	case Path:
		value = within(dir, r.text(e).Value)
	default:
		value = r.text(e).Value
	}
	if len(r.problems) == before {
		text, _ := r.scalar(e) // the caller has read it already
		file.Settings = append(file.Settings, Setting{key, value, text, r.valueAt(e)})
	}
}

func (r *reader) timeOrZero(e entry) time.Duration {
	if token := e.value; token != nil && token.GetToken().Value == "0" {
		return 0
	}
	return r.time(e)
}

func (r *reader) forbiddenFlags(e entry) ForbiddenFlags {
	flags := ForbiddenFlags{Position: r.valueAt(e)}
	if isMapping(e.value) {
		for _, inner := range r.entries(e.value, r.valueAt(e), e.name) {
			if inner.name == "query" {
				flags.Query = r.text(inner).Value
			} else {
				r.unknown(inner, " in forbidden_flags", []string{"query"})
			}
		}
		return flags
	}
	for _, element := range r.list(e) {
		flags.List = append(flags.List, r.text(element).Value)
	}
	return flags
}

// within returns path as an absolute path; a relative path is relative to dir.
func within(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// presetPattern matches the names of the config files of Graphile Worker for Node.js.
const presetPattern = "graphile.config.*"

// PresetIn returns the config file of Graphile Worker in a folder and what to say of it, "" if there is none.
func PresetIn(folder string) (path, message string) {
	found, _ := filepath.Glob(filepath.Join(folder, presetPattern)) // an odd folder has none
	if len(found) == 0 {
		return "", ""
	}
	return found[0], presetMessage()
}

func isPreset(path string) bool {
	matches, _ := filepath.Match(presetPattern, filepath.Base(path)) // the pattern is valid
	return matches
}

func presetMessage() string {
	return "a config file of Graphile Worker for Node.js is not read; write a gw.yaml, whose keys are " +
		strings.Join(names(Settings(), Top()), ", ")
}
