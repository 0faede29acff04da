package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/task"
)

// TaskFolder says where the executables are that serve tasks by their names.
type TaskFolder struct {
	Path     string
	Optional bool // nobody asked for it, so it need not be there if the config file has tasks
}

// taskFinder finds out how tasks are served: by the executables of a folder, or as a config file says.
type taskFinder struct {
	folder TaskFolder
	log    *slog.Logger
	told   map[string]bool // what has been logged
}

func newTaskFinder(folder TaskFolder, log *slog.Logger) *taskFinder {
	return &taskFinder{folder: folder, log: log, told: make(map[string]bool)}
}

// find returns the tasks by their names. It is an error when there is none, or when the file speaks of executables that are
// not there.
func (f *taskFinder) find(file *config.File) (map[string]config.Task, error) {
	found, err := task.Discover(f.folder.Path)
	if err != nil {
		if !f.folder.Optional || len(file.Tasks) == 0 || !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w; --tasks names the folder with the executables", err)
		}
	}
	if len(found.Tasks)+len(file.Tasks) == 0 {
		return nil, fmt.Errorf("no tasks found in %s; %s", f.folder.Path, whyNone(found))
	}
	for _, ignored := range found.Ignored {
		level := slog.LevelWarn
		if strings.HasPrefix(path.Base(ignored.Path), ".") {
			level = slog.LevelInfo // nobody takes a hidden file for a task
		}
		f.tell(level, "file serves no task", "path", ignored.Path, "reason", ignored.Reason)
	}
	tasks, err := f.merge(found, file)
	if err != nil {
		return nil, err
	}
	f.warnOfPrograms(tasks)
	return tasks, nil
}

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

// merge adds the tasks of the file to those of the folder.
func (f *taskFinder) merge(found task.Found, file *config.File) (map[string]config.Task, error) {
	tasks := make(map[string]config.Task)
	for name, file := range found.Tasks {
		tasks[name] = config.Task{Name: name, Program: config.Program{Command: []string{file}}}
	}
	var problems config.Problems
	for _, name := range slices.Sorted(maps.Keys(file.Tasks)) {
		own := file.Tasks[name]
		below, exists := tasks[name]
		switch {
		case own.Kind == config.Folder && exists:
			own.Program.Command = below.Program.Command
		case own.Kind == config.Folder:
			problems = append(problems, config.Problem{Position: own.Position, Message: fmt.Sprintf(
				"nothing serves task %s: there is no executable for it in %s, and none of exec, persistent, http, sql here",
				name, f.folder.Path)})
		case exists:
			f.tell(slog.LevelWarn, "file serves no task", "path", below.Program.Command[0], "reason", "the config file serves the task "+name)
		}
		tasks[name] = own
	}
	return tasks, problems.OrNil()
}

// warnOfPrograms warns of the tasks whose programs cannot be started. They are served all the same: the program may come
// later, and until then a job fails with the same reason.
func (f *taskFinder) warnOfPrograms(tasks map[string]config.Task) {
	for _, name := range slices.Sorted(maps.Keys(tasks)) {
		program := tasks[name].Program
		if len(program.Command) == 0 {
			continue
		}
		if err := task.CheckProgram(program.Command[0], program.Directory, variables(program.Env)); err != nil {
			f.tell(slog.LevelWarn, "the program of a task cannot be started", "task_identifier", name, "reason", err)
		}
	}
}

// tell logs what has not been logged before.
func (f *taskFinder) tell(level slog.Level, message string, attrs ...any) {
	if key := fmt.Sprint(attrs...); !f.told[key] {
		f.told[key] = true
		f.log.Log(context.Background(), level, message, attrs...)
	}
}
