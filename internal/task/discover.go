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
	// fileName matches the name of a task file; the group is the task's name, up to the first dot: report.daily.sh
	// serves the task "report".
	fileName = regexp.MustCompile(`^([A-Za-z0-9_-]+)(\.[A-Za-z0-9_-]+)*$`)
)

// Found is the content of a task folder.
type Found struct {
	// Tasks maps each task identifier to the absolute path of its executable.
	Tasks map[string]string
	// Modules maps each task identifier to the absolute path of its module for Node.js. If a task also has an
	// executable, the module takes precedence.
	Modules map[string]string
	// Ignored lists, in the order of their paths, the entries that serve no task.
	Ignored []Ignored
}

// Ignored is an entry of a task folder that serves no task.
type Ignored struct {
	// Path is relative to the task folder, with slashes.
	Path string
	// Reason is the reason, to be printed after the path.
	Reason string
}

// String returns the path, followed by the reason.
func (i Ignored) String() string {
	return i.Path + " (" + i.Reason + ")"
}

// moduleExtensions are the extensions of modules in Graphile Worker. If a task has several modules, the one whose
// extension comes first serves it.
var moduleExtensions = []string{".js", ".cjs", ".mjs", ".ts", ".mts"}

// Discover finds the executables and the modules for Node.js in dir and the folders below it. The task of a file
// consists of the names of its folders and its own name up to the first dot, joined by slashes: mail/send.sh serves
// "mail/send". Names of folders consist of letters, digits, _ and -; so do names of files, with dots between. Links to
// files are followed, links to folders are not.
//
// A module is a file whose name has one dot and the extension .js, .cjs, .mjs, .ts or .mts, unless it is a script: an
// executable file whose first line begins with #!. Any other file must be executable by its owner. If a task has
// several modules, the one with the first of these extensions serves it; of several executables the first one by name
// does.
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

// walk adds the entries of a folder; below is its slash-separated path relative to root.
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
			f.ignore(name, "the name of a task folder may contain only letters, digits, _ and -")
			continue
		}
		if err := f.walk(root, name); err != nil {
			return err
		}
	}
	return nil
}

// file adds a file; name is its slash-separated path relative to root.
func (f *Found) file(root, name string) {
	full := filepath.Join(root, filepath.FromSlash(name))
	info, err := os.Stat(full)
	switch {
	case err != nil:
		f.ignore(name, "it cannot be read: "+err.Error())
		return
	case info.IsDir():
		f.ignore(name, "links to folders are not followed")
		return
	case !info.Mode().IsRegular():
		f.ignore(name, "not a regular file")
		return
	case !fileName.MatchString(path.Base(name)):
		f.ignore(name, "the name of a task file may contain only letters, digits, _ and -, with dots between them")
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

// module adds a module, unless the task has one with an earlier extension.
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

// isScript reports whether a file begins with #!. A file that cannot be read does not.
func isScript(path string) bool {
	file, err := openRegular(path)
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

// executableByOwner is the permission bit that makes a file a task, whichever user runs the worker, as in Graphile
// Worker.
const executableByOwner fs.FileMode = 0o100
