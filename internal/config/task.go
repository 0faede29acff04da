package config

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gwsql/gw/internal/webhook"
)

// Task is how a task is served.
type Task struct {
	Name     string
	Position Position
	Kind     Kind

	Timeout     time.Duration   // 0 for the default of the kind
	Concurrency int             // 0 for no limit of its own
	Backoff     []time.Duration // the delay after each attempt, the last one after all further ones; nil for the database's

	ForbiddenFlags ForbiddenFlags // in addition to those of the file

	Keep         time.Duration // for how long its history is kept; 0 for what the database has
	KeepPayloads bool
	KeepResults  bool

	Program Program // of Folder, Exec, Persistent and Node
	Module  Module  // of Node
	HTTP    Post    // of HTTP
	SQL     Call    // of SQL
}

// Program is a program that serves a task.
type Program struct {
	Command   []string // an absolute path, and arguments; nil for a file in the folder of tasks
	Shown     string   // the command for messages, with ${NAME} in place of the values of variables
	Directory string   // absolute
	Env       map[string]string
	KillDelay time.Duration // 0 for the default
	Children  int           // the maximum number of processes; 0 for the default: with Persistent one for each job, with Node one
}

// Module is a file in JavaScript or TypeScript that serves a task.
type Module struct {
	Path    string // absolute
	Version string // changes with the file; empty if it was not determined
}

// Post is the HTTP server to which the jobs of a task are posted.
type Post struct {
	URL          Expanded
	Headers      map[string]string
	Secrets      []webhook.Secret
	Permanent4xx bool
	CAFile       string
}

// Call is the function or procedure that serves a task.
type Call struct {
	Function Expanded
	Owner    string // the role that owns the function; empty: one that is trusted anyway
	Batch    int    // the maximum number of jobs for one call with an array; 0 for a call with the payload of each job
}

// statementLike matches a text with white space, parentheses or a semicolon outside of quotes, which is not a name.
var statementLike = regexp.MustCompile(`^(?:[^"]|"[^"]*")*?[\s();](?:[^"]|"[^"]*")*$`)

// The maximum numbers of jobs for one call of a function of an array.
const (
	defaultBatch = 100
	maxBatch     = 1000
)

func (r *reader) tasks(file *File, e entry, dir string) {
	for _, task := range r.entries(e.value, r.valueAt(e), e.name) {
		if strings.TrimSpace(task.name) == "" {
			r.refuse(task.at, "a task has an empty name")
			continue
		}
		file.Tasks[task.name] = r.task(task, dir)
	}
}

func (r *reader) task(e entry, dir string) Task {
	task := Task{Name: e.name, Position: e.at}
	entries := r.entries(e.value, r.valueAt(e), "task "+e.name)
	task.Kind = r.kind(entries)
	if task.Kind == Exec || task.Kind == Persistent || task.Kind == Node {
		task.Program.Directory = dir
	}
	known := names(Kinds(), Common(), OfKind(task.Kind))
	for _, inner := range entries {
		if slices.Contains(known, inner.name) {
			r.taskKey(&task, inner, dir)
		} else {
			r.misplaced(inner, task.Kind, known)
		}
	}
	return task
}

// kind returns the kind of a task. A task can have only one key of a kind.
func (r *reader) kind(entries []entry) Kind {
	kind := Folder
	for _, e := range entries {
		if !slices.Contains(names(Kinds()), e.name) {
			continue
		}
		if kind != Folder {
			r.refuse(e.at, "the task already has %s; it can have only one of %s", kind,
				strings.Join(names(Kinds()), ", "))
			continue
		}
		kind = Kind(e.name)
	}
	return kind
}

// misplaced reports a key that only tasks of another kind have, or that no task has.
func (r *reader) misplaced(e entry, kind Kind, known []string) {
	var owners []string
	for _, other := range append(names(Kinds()), string(Folder)) {
		if slices.Contains(names(OfKind(Kind(other))), e.name) {
			owners = append(owners, Kind(other).title())
		}
	}
	if owners == nil {
		r.unknown(e, " in a task", known)
		return
	}
	r.refuse(e.at, "%s is a key of tasks with %s; this one has %s", e.name, strings.Join(owners, " or "), kind.title())
}

func (k Kind) title() string {
	if k == Folder {
		return "a file in the folder of tasks"
	}
	return string(k)
}

func (r *reader) taskKey(task *Task, e entry, dir string) {
	switch e.name {
	case "timeout":
		task.Timeout = r.time(e)
	case "concurrency":
		task.Concurrency = r.number(e, Most)
	case "backoff":
		for _, delay := range r.list(e) {
			task.Backoff = append(task.Backoff, r.time(delay))
		}
	case "forbidden_flags":
		task.ForbiddenFlags = r.forbiddenFlags(e)
	case "keep":
		if task.Keep = r.time(e); task.Keep == 0 {
			r.refuse(r.valueAt(e), "keep must be more than 0; stop_keeping_task() in the database ends it")
		}
	case "keep_payloads":
		task.KeepPayloads = r.yes(e)
	case "keep_results":
		task.KeepResults = r.yes(e)
	case "exec", "persistent":
		task.Program.Command, task.Program.Shown = r.command(e, dir)
	case "node":
		task.Module.Path, task.Program.Shown = r.existing("file", e, dir)
	case "directory":
		task.Program.Directory, _ = r.existing("folder", e, dir)
	case "env":
		task.Program.Env = r.texts(e)
	case "kill_delay":
		task.Program.KillDelay = r.time(e)
	case "children":
		task.Program.Children = r.number(e, Most)
	case "http":
		task.HTTP.URL = r.url(e)
	case "headers":
		task.HTTP.Headers = r.texts(e)
	case "secret":
		task.HTTP.Secrets = r.secrets(e)
	case "permanent_4xx":
		task.HTTP.Permanent4xx = r.yes(e)
	case "ca_file":
		task.HTTP.CAFile, _ = r.existing("file", e, dir)
	case "sql":
		if task.SQL.Function = r.text(e); statementLike.MatchString(task.SQL.Function.Value) {
			r.refuse(r.valueAt(e), "sql takes the name of a function or procedure, such as app.refresh_totals, not a statement")
		}
	case "owner":
		task.SQL.Owner = r.text(e).Value
	case "batch":
		task.SQL.Batch = r.batch(e)
	}
}

// batch returns the maximum number of jobs for one call; true stands for the default.
func (r *reader) batch(e entry) int {
	text, ok := r.scalar(e)
	switch {
	case !ok:
		return 0
	case text.Value == "true":
		return defaultBatch
	}
	return r.number(e, maxBatch)
}

// command returns a program with its arguments, and the same for messages. A bare name is looked up in $PATH; a
// relative path is relative to dir.
func (r *reader) command(e entry, dir string) (command []string, shown string) {
	var words []string
	for i, element := range r.list(e) {
		text, ok := r.scalar(element)
		if !ok {
			return nil, ""
		}
		if i == 0 {
			text = r.program(element, text, dir)
		}
		command = append(command, text.Value)
		words = append(words, text.Written)
	}
	return command, strings.Join(words, " ")
}

// program finds a program. The Written of the result is its path, too, unless the name contains variables.
func (r *reader) program(e entry, name Expanded, dir string) Expanded {
	path := name.Value
	if strings.ContainsRune(path, filepath.Separator) {
		path = within(dir, path)
	}
	found, err := exec.LookPath(path)
	shown := name.shown(path)
	switch {
	case err == nil:
		return Expanded{Value: found, Written: name.shown(found)}
	case name.Value == "":
		r.refuse(r.valueAt(e), "%s is empty; name a program", e.name)
	case errors.Is(err, fs.ErrPermission):
		r.refuse(r.valueAt(e), "%s: %s is not executable, see chmod +x", e.name, shown)
	case errors.Is(err, exec.ErrNotFound):
		r.refuse(r.valueAt(e), "%s: no program %s in $PATH; a program beside this file is ./%s", e.name, name.Written,
			name.Written)
	case strings.Contains(name.Value, " "):
		r.refuse(r.valueAt(e), "%s: there is no file %s; arguments are given in a list, such as [./program, argument]",
			e.name, shown)
	default:
		r.refuse(r.valueAt(e), "%s: there is no file %s", e.name, shown)
	}
	return name
}

// existing returns the absolute path of something that exists, a file or a folder, and the path for messages.
func (r *reader) existing(what string, e entry, dir string) (path, shown string) {
	text := r.text(e)
	path = within(dir, text.Value)
	if info, err := os.Stat(path); path != "" && (err != nil || info.IsDir() != (what == "folder")) {
		r.refuse(r.valueAt(e), "%s: there is no %s %s", e.name, what, text.shown(path))
	}
	return path, text.shown(path)
}

// url returns the URL of a task, with its placeholders in braces.
func (r *reader) url(e entry) Expanded {
	text := r.text(e)
	if text.Value == "" {
		return text
	}
	u, err := url.Parse(strings.NewReplacer("{", "", "}", "").Replace(text.Value))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		r.refuse(r.valueAt(e), "%s takes a URL that begins with http:// or https:// and a host", e.name)
	}
	return text
}

// secrets returns one or more keys of signatures. Problems do not contain them.
func (r *reader) secrets(e entry) []webhook.Secret {
	var secrets []webhook.Secret
	for _, element := range r.list(e) {
		text, ok := r.scalar(element)
		if !ok {
			continue
		}
		secret, err := webhook.ParseSecret(text.Value)
		if err != nil {
			r.refuse(r.valueAt(element), "%s %s", e.name, err)
		}
		secrets = append(secrets, secret)
	}
	return secrets
}
