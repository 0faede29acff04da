package task

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	folderName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	// fileName takes the task's name up to the first dot: report.daily.sh serves the task "report".
	fileName = regexp.MustCompile(`^([A-Za-z0-9_-]+)(\.[A-Za-z0-9_-]+)*$`)
)

// Found is what a task folder holds.
type Found struct {
	// Tasks maps each task identifier to the absolute path of its executable.
	Tasks map[string]string
	// Modules maps each task identifier to the absolute path of its module for Node.js. If the same task has an executable,
	// the module goes before it.
	Modules map[string]string
	// Ignored lists, in the order of their paths, the entries that serve no task.
	Ignored []Ignored
}

// Ignored is an entry of a task folder that serves no task.
type Ignored struct {
	// Path is relative to the task folder, with slashes.
	Path string
	// Reason says why, as the end of a sentence that begins with the path.
	Reason string
}

// String returns the path with the reason behind it.
func (i Ignored) String() string {
	return i.Path + " (" + i.Reason + ")"
}

// moduleExtensions are what Graphile Worker takes for modules. Of several files for one task the first of these serves it.
var moduleExtensions = []string{".js", ".cjs", ".mjs", ".ts", ".mts"}

// Discover looks for executables and for modules of Node.js in dir and the folders below it. A file serves the task that is named by its folders
// and by its own name up to the first dot, joined by slashes: mail/send.sh serves "mail/send". Folders are named from
// letters, digits, _ and -; files likewise, with dots between. Links to files are followed, links to folders are not.
//
// A module ends in .js, .cjs, .mjs, .ts or .mts behind the first dot, and is no script: a file with a first line that begins
// with #! and which may be executed. Any other file must be one that its owner is allowed to execute. Of several modules for
// one task the one with the first of these endings serves it, of several executables the first by name.
func Discover(dir string) (Found, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return Found{}, fmt.Errorf("read task folder: %w", err)
	}
	found := Found{Tasks: make(map[string]string), Modules: make(map[string]string)}
	if err := found.walk(absolute, ""); err != nil {
		return Found{}, fmt.Errorf("read task folder: %w", err)
	}
	return found, nil
}

// walk adds the entries of the folder that lies at the slash-separated path below under root.
func (f *Found) walk(root, below string) error {
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(below)))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := path.Join(below, entry.Name())
		if !entry.IsDir() {
			f.file(root, name)
			continue
		}
		if !folderName.MatchString(entry.Name()) {
			f.ignore(name, "a task folder is named from letters, digits, _ and - only")
			continue
		}
		if err := f.walk(root, name); err != nil {
			return err
		}
	}
	return nil
}

// file adds the file that lies at the slash-separated path name under root.
func (f *Found) file(root, name string) {
	full := filepath.Join(root, filepath.FromSlash(name))
	info, err := os.Stat(full)
	if err != nil {
		f.ignore(name, "it cannot be read: "+err.Error())
		return
	}
	if info.IsDir() {
		f.ignore(name, "links to folders are not followed")
		return
	}
	if !info.Mode().IsRegular() {
		f.ignore(name, "not a regular file")
		return
	}
	if !fileName.MatchString(path.Base(name)) {
		f.ignore(name, "a task file is named from letters, digits, _ and -, with dots between")
		return
	}
	base, extension, _ := strings.Cut(path.Base(name), ".")
	identifier := path.Join(path.Dir(name), base)
	isExecutable := info.Mode()&executableByOwner != 0
	switch first, taken := f.Tasks[identifier]; {
	case slices.Contains(moduleExtensions, "."+extension) && !(isExecutable && isScript(full)):
		f.module(identifier, name, full)
	case !isExecutable:
		f.ignore(name, "not executable by its owner, see chmod u+x")
	case taken:
		f.ignore(name, fmt.Sprintf("%s serves the task %s already", filepath.Base(first), identifier))
	default:
		f.Tasks[identifier] = full
	}
}

// module adds a module, unless one with an earlier extension is there.
func (f *Found) module(identifier, name, full string) {
	first, taken := f.Modules[identifier]
	if taken && moduleRank(first) < moduleRank(full) {
		f.ignore(name, fmt.Sprintf("%s serves the task %s already", filepath.Base(first), identifier))
		return
	}
	if taken {
		f.ignore(path.Join(path.Dir(name), filepath.Base(first)),
			fmt.Sprintf("%s serves the task %s already", filepath.Base(full), identifier))
	}
	f.Modules[identifier] = full
}

func moduleRank(path string) int { return slices.Index(moduleExtensions, filepath.Ext(path)) }

// isScript returns whether a file begins with #!; one that cannot be read does not.
func isScript(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	var first [2]byte
	_, err = io.ReadFull(file, first[:])
	return err == nil && string(first[:]) == "#!"
}

func (f *Found) ignore(name, reason string) {
	f.Ignored = append(f.Ignored, Ignored{Path: name, Reason: reason})
}

// executableByOwner is the one bit that makes a file a task, whoever runs the worker: so it is with Graphile Worker.
const executableByOwner fs.FileMode = 0o100
