package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/task"
)

// TaskFolder is the location of the executables and modules that serve tasks by their names.
type TaskFolder struct {
	Path     string
	Optional bool // not requested, so it need not exist if the config file has tasks
}

// taskFinder determines how tasks are served: by the files of a folder, or as set in a config file.
type taskFinder struct {
	folder TaskFolder
	log    *slog.Logger
	told   map[string]bool // the messages that were logged
}

func newTaskFinder(folder TaskFolder, log *slog.Logger) *taskFinder {
	return &taskFinder{folder: folder, log: log, told: make(map[string]bool)}
}

// find returns the tasks by their names. It returns an error if there is none, or if the config file has a task without
// a key of a kind for which the folder has no file.
func (f *taskFinder) find(file *config.File) (map[string]config.Task, error) {
	found, err := task.Discover(f.folder.Path)
	if err != nil {
		if !f.folder.Optional || len(file.Tasks) == 0 || !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w; --tasks names the folder with the executables", err)
		}
	}
	modules := f.modules(&found)
	if len(found.Tasks)+len(modules)+len(file.Tasks) == 0 {
		return nil, fmt.Errorf("no tasks found in %s; %s", f.folder.Path, whyNone(found))
	}
	for _, ignored := range found.Ignored {
		level := slog.LevelWarn
		if besideTasks.MatchString(path.Base(ignored.Path)) {
			level = slog.LevelInfo
		}
		f.tell(level, "file serves no task", "path", ignored.Path, "reason", ignored.Reason)
	}
	tasks, err := f.merge(found, modules, file)
	if err != nil {
		return nil, err
	}
	f.warnOfPrograms(tasks)
	return tasks, nil
}

// modules returns the tasks that modules of the folder serve; none if there is no suitable Node.js.
func (f *taskFinder) modules(found *task.Found) map[string]config.Task {
	tasks := make(map[string]config.Task)
	if len(found.Modules) == 0 {
		return tasks
	}
	_, err := task.FindNode(context.Background())
	for name, path := range found.Modules {
		if err != nil {
			f.tell(slog.LevelWarn, "file serves no task", "path", path, "reason",
				fmt.Sprintf("it is a module for Node.js, and %s", err))
			continue
		}
		tasks[name] = config.Task{
			Name: name, Kind: config.Node, Program: config.Program{Shown: path}, Module: config.Module{Path: path},
		}
	}
	return tasks
}

// besideTasks matches the names of files that are obviously not tasks: hidden ones, and files that the TypeScript
// compiler writes beside a module.
var besideTasks = regexp.MustCompile(`^\.|\.d\.[cm]?ts$|\.map$`)

func whyNone(found task.Found) string {
	if len(found.Ignored) == 0 {
		return "it is empty"
	}
	texts := make([]string, len(found.Ignored))
	for i, ignored := range found.Ignored {
		texts[i] = ignored.String()
	}
	return "ignored: " + strings.Join(texts, ", ")
}

// merge adds the executables of the folder, and the tasks of the config file, to tasks: those of the folder's modules.
func (f *taskFinder) merge(found task.Found, tasks map[string]config.Task,
	file *config.File) (map[string]config.Task, error) {
	for name, program := range found.Tasks {
		if module, exists := tasks[name]; exists {
			f.tell(slog.LevelWarn, "file serves no task", "path", program,
				"reason", fmt.Sprintf("%s serves the task %s", filepath.Base(module.Module.Path), name))
			continue
		}
		tasks[name] = config.Task{Name: name, Program: config.Program{Command: []string{program}, Shown: program}}
	}
	var problems config.Problems
	for _, name := range slices.Sorted(maps.Keys(file.Tasks)) {
		own := file.Tasks[name]
		below, exists := tasks[name]
		switch {
		case own.Kind == config.Folder && exists:
			own.Kind, own.Module = below.Kind, below.Module
			own.Program.Command, own.Program.Shown = below.Program.Command, below.Program.Shown
		case own.Kind == config.Folder:
			problems = append(problems, config.Problem{Position: own.Position, Message: fmt.Sprintf(
				"nothing serves task %s: there is no executable and no module for it in %s, and the task has none of the keys exec, "+
					"persistent, node, http and sql",
				name, f.folder.Path)})
		case exists:
			f.tell(slog.LevelWarn, "file serves no task", "path", below.Program.Shown, "reason",
				"the config file serves the task "+name)
		}
		tasks[name] = own
	}
	for name, t := range tasks {
		if t.Kind == config.Node {
			t.Module.Version = fileVersion(t.Module.Path)
			tasks[name] = t
		}
	}
	return tasks, problems.OrNil()
}

// warnOfPrograms logs a warning for each task whose program cannot be started. These tasks are served nevertheless: the
// program may be repaired later, and until then jobs fail with the same reason.
func (f *taskFinder) warnOfPrograms(tasks map[string]config.Task) {
	for _, name := range slices.Sorted(maps.Keys(tasks)) {
		program := tasks[name].Program
		if len(program.Command) == 0 {
			continue
		}
		if err := task.CheckProgram(program.Command[0], program.Directory, variables(program.Env)); err != nil {
			f.tell(slog.LevelWarn, "program of a task cannot be started", "task_identifier", name, "reason", err)
		}
	}
}

// tell logs a message unless it was logged before.
func (f *taskFinder) tell(level slog.Level, message string, attrs ...any) {
	if key := fmt.Sprint(attrs...); !f.told[key] {
		f.told[key] = true
		f.log.Log(context.Background(), level, message, attrs...)
	}
}

// fileVersion returns a text that changes with the file.
func fileVersion(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano())
}
