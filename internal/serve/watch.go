package serve

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// settleTime is how long files must be unchanged before they are read, because editors and copies change them in
	// steps.
	settleTime = 100 * time.Millisecond
	// unsettledTime is the maximum wait while they keep changing.
	unsettledTime = 2 * time.Second
)

// fileWatch reports changes of a worker's files. It watches folders, because editors replace files.
type fileWatch struct {
	watcher *fsnotify.Watcher
	tasks   string          // a folder; everything below it matters
	files   map[string]bool // paths of files
	log     *slog.Logger
}

// watchFiles starts to watch. The folder of tasks and the files need not exist, but their parent folders must.
func watchFiles(tasks string, files []string, log *slog.Logger) (*fileWatch, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	w := &fileWatch{watcher: watcher, tasks: filepath.Clean(tasks), files: make(map[string]bool), log: log}
	w.files[w.tasks] = true
	for _, file := range files {
		w.files[filepath.Clean(file)] = true
	}
	for file := range w.files {
		if err := watcher.Add(filepath.Dir(file)); err != nil {
			_ = watcher.Close() // the first error is returned
			return nil, fmt.Errorf("watch %s: %w", filepath.Dir(file), err)
		}
	}
	w.watchTasks()
	return w, nil
}

// watchTasks watches all folders of tasks. Watching a folder twice has no effect.
func (w *fileWatch) watchTasks() {
	_ = filepath.WalkDir(w.tasks, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // a folder that does not exist or cannot be read has no tasks
		}
		if entry.IsDir() {
			if err := w.watcher.Add(path); err != nil {
				w.log.Warn("folder of tasks cannot be watched, SIGHUP reloads it", "path", path, "error", err)
			}
		}
		return nil
	})
}

// run sends to changes when files have changed, until ctx ends.
func (w *fileWatch) run(ctx context.Context, changes chan<- struct{}) {
	defer w.watcher.Close()
	var latest time.Time
	settled := time.After(0) // for changes before the watch began
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-w.watcher.Events:
			if !w.matters(event) {
				continue
			}
		case err := <-w.watcher.Errors: // the queue of changes may have overflowed
			w.log.Warn("file changes may have been missed", "error", err)
		case <-settled:
			settled = nil
			w.watchTasks()
			select {
			case changes <- struct{}{}:
			case <-ctx.Done():
			}
			continue
		}
		now := time.Now()
		if settled == nil {
			latest = now.Add(unsettledTime)
		}
		settled = time.After(min(settleTime, latest.Sub(now)))
	}
}

// matters reports whether a change may affect tasks, config or crontab. In volumes of Kubernetes the files are links
// that are switched together; the names of the links' targets begin with two dots.
func (w *fileWatch) matters(event fsnotify.Event) bool {
	path := filepath.Clean(event.Name)
	return w.files[path] || strings.HasPrefix(path, w.tasks+string(filepath.Separator)) ||
		strings.HasPrefix(filepath.Base(path), "..")
}
