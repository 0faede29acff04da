package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/terminal"
	"github.com/gwsql/gw/pkg/shard"
)

// fanning is the commands that only read, so that with --shards they run in every shard unless --shard names one.
var fanning = []string{
	"jobs", "show", "why", "queues", "tasks", "workers", "stats", "doctor", "pauses", "export", "limit list", "limit lanes", "cron list",
}

// single is the commands that take --shards in their own way, or no database at all.
var single = []string{"", "shards", "shards move", "shards drain", "shards resume", "config", "config check", "demo", "version", "cron", "cron check", "limit", "help"}

// idOfShard matches the id of a job in a shard.
var idOfShard = regexp.MustCompile(`^([a-z][a-z0-9_-]{0,39}):([0-9]+)$`)

// fan is a command that runs in several shards, or in the one that its arguments name.
type fan struct {
	name   string // of the command
	shards shard.Map
	only   string              // of --shard
	args   []string            // without --shards, --shard and the ids of jobs
	ids    map[string][]string // of jobs, by shard
}

// newFan returns how to run a command with --shards; nil if the command runs as usual.
func newFan(root *cobra.Command, args []string, getenv func(string) string) (*fan, error) {
	path, only, rest := takeFlags(args)
	if path == "" && only == "" {
		return nil, nil
	}
	found, _, err := root.Find(rest)
	if err != nil {
		return nil, nil // the command itself reports this
	}
	f := &fan{name: strings.TrimPrefix(strings.TrimPrefix(found.CommandPath(), root.Name()), " "), only: only, ids: make(map[string][]string)}
	switch {
	case slices.Contains(single, f.name) && only == "":
		return nil, nil
	case slices.Contains(single, f.name):
		return nil, usageError{errors.New("--shard selects a shard for a command that shows or changes jobs; a worker takes --home")}
	case path == "":
		return nil, usageError{errors.New("--shard needs --shards, the file of shards")}
	case slices.ContainsFunc(rest, func(arg string) bool { return arg == "-c" || strings.HasPrefix(arg, "--connection") }):
		return nil, usageError{errors.New("--shards and --connection exclude each other: the file has the connection of each shard")}
	case f.name == "ui" && only == "": // one server for all shards
		return nil, nil
	}
	of, err := config.LoadShards(path, getenv)
	if err != nil {
		return nil, err
	}
	f.shards = *of
	return f, f.read(rest)
}

// takeFlags returns the values of --shards and --shard, and the other arguments.
func takeFlags(args []string) (path, only string, rest []string) {
	for i := 0; i < len(args); i++ {
		name, value, hasValue := strings.Cut(args[i], "=")
		if args[i] == "--" {
			return path, only, append(rest, args[i:]...)
		}
		if name != "--shards" && name != "--shard" {
			rest = append(rest, args[i])
			continue
		}
		if !hasValue && i+1 < len(args) {
			i++
			value = args[i]
		}
		if name == "--shards" {
			path = value
		} else {
			only = value
		}
	}
	return path, only, rest
}

// read sorts the arguments: ids of jobs belong to a shard.
func (f *fan) read(args []string) error {
	for _, arg := range args {
		match := idOfShard.FindStringSubmatch(arg)
		if match == nil {
			f.args = append(f.args, arg)
			continue
		}
		if _, known := f.shards.Find(match[1]); !known {
			return usageError{fmt.Errorf("there is no shard %s; the map has %s", match[1], strings.Join(f.shards.Names(), ", "))}
		}
		f.ids[match[1]] = append(f.ids[match[1]], match[2])
	}
	_, known := f.shards.Find(f.only)
	switch {
	case f.only != "" && !known:
		return usageError{fmt.Errorf("there is no shard %s; the map has %s", f.only, strings.Join(f.shards.Names(), ", "))}
	case f.only != "" && len(f.ids) > 0:
		return usageError{errors.New("--shard and ids with a shard, such as a:17, exclude each other")}
	case f.only == "" && len(f.ids) == 0 && !slices.Contains(fanning, f.name):
		return usageError{fmt.Errorf("which shard? gw-run %s takes --shard NAME, or ids with a shard, such as %s:17", f.name, f.shards.Names()[0])}
	}
	return nil
}

// run runs the command in each of its shards. A shard that fails does not stop the others.
func (f *fan) run(ctx context.Context, stdout, stderr io.Writer, runIn func(ctx context.Context, args []string, stdout, stderr io.Writer) error) error {
	gathered := &gatherer{out: stdout}
	var problems []error
	for _, s := range f.shards.Shards {
		ids := f.ids[s.Name]
		if f.only != "" && f.only != s.Name || len(f.ids) > 0 && len(ids) == 0 {
			continue
		}
		args := append(slices.Clone(f.args), "--connection", s.Connection)
		args = append(args, ids...)
		gathered.shard = s.Name
		err := runIn(ctx, args, gathered, &linePrefixer{out: stderr, prefix: s.Name + ": "})
		if err != nil {
			problems = append(problems, fmt.Errorf("shard %s: %w", s.Name, err))
		}
	}
	return errors.Join(append(problems, gathered.flush())...)
}

// gatherer is the output of a command in several shards, one after the other: the rows of all lists become one list, with the
// column SHARD. Other output has the name of the shard before each line.
type gatherer struct {
	out    io.Writer
	shard  string
	titles []terminal.Column[[]string]
	rows   [][]string
}

// Write writes output that is not a list.
func (g *gatherer) Write(p []byte) (int, error) {
	_, err := (&linePrefixer{out: g.out, prefix: g.shard + ": "}).Write(p)
	return len(p), err
}

// add adds the rows of a list.
func (g *gatherer) add(titles []terminal.Column[[]string], rows [][]string) {
	if g.titles == nil {
		g.titles = append([]terminal.Column[[]string]{{Title: "SHARD"}}, titles...)
		for i := range g.titles {
			g.titles[i].Cell = func(row []string) string { return row[i] }
		}
	}
	for _, row := range rows {
		row = append([]string{g.shard}, row...)
		for i, title := range g.titles {
			if title.Title == "ID" {
				row[i] = g.shard + ":" + row[i]
			}
		}
		g.rows = append(g.rows, row)
	}
}

// addJSON writes objects, each with the name of the shard as its first key.
func (g *gatherer) addJSON(objects []json.RawMessage) error {
	name, err := json.Marshal(g.shard)
	if err != nil {
		return err
	}
	for _, object := range objects {
		rest := bytes.TrimPrefix(bytes.TrimSpace(object), []byte("{"))
		comma := ","
		if bytes.Equal(rest, []byte("}")) {
			comma = ""
		}
		if _, err := fmt.Fprintf(g.out, "{\"shard\":%s%s%s\n", name, comma, rest); err != nil {
			return err
		}
	}
	return nil
}

// flush prints the list.
func (g *gatherer) flush() error {
	if g.titles == nil {
		return nil
	}
	return terminal.Table(g.out, g.titles, g.rows)
}

// linePrefixer writes a prefix before each line.
type linePrefixer struct {
	out    io.Writer
	prefix string
}

func (p *linePrefixer) Write(text []byte) (int, error) {
	for line := range bytes.Lines(text) {
		if _, err := fmt.Fprintf(p.out, "%s%s", p.prefix, line); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}
