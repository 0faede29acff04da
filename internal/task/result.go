package task

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gwsql/gw/pkg/shim"
)

// maxResult is the maximum size of a result in bytes, beyond which it is not read: the largest value of the setting
// max_result.
const maxResult = 64 << 20

// resultFile is the file to which a program may write the result of its job, as JSON. It is in a folder that only this
// user can read, and does not exist until the program creates it.
type resultFile struct {
	directory string
	lock      *os.File // by which others see that the folder is in use, nil where there are no such locks
}

const resultFolder = "gw-result-"

// newResultFile returns the file of a job. Without a folder for temporary files there is none.
func newResultFile() resultFile {
	for range 3 { // a worker that starts may take it for the folder of a dead one, until it is locked
		directory, err := os.MkdirTemp("", resultFolder)
		if err != nil {
			break
		}
		lock, err := lockFolder(directory, false)
		if _, gone := os.Lstat(directory); err == nil && gone == nil {
			return resultFile{directory, lock}
		}
	}
	return resultFile{}
}

// SweepResults removes the folders for results of workers that were killed.
func SweepResults() {
	folders, _ := filepath.Glob(filepath.Join(os.TempDir(), resultFolder+"*")) // the pattern is valid
	for _, folder := range folders {
		if lock, err := lockFolder(folder, true); err == nil && lock != nil {
			_ = os.RemoveAll(folder)
			_ = lock.Close()
		}
	}
}

func (f resultFile) path() string { return filepath.Join(f.directory, "result.json") }

// variable returns the environment variable that names the file.
func (f resultFile) variable() []string {
	if f.directory == "" {
		return nil
	}
	return []string{"GW_RESULT_FILE=" + f.path()}
}

// read makes the content of the file the result of the job.
func (f resultFile) read(job *shim.Job) error {
	if f.directory == "" {
		return nil
	}
	file, err := openRegular(f.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the result in GW_RESULT_FILE: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxResult+1))
	switch {
	case err != nil:
		return fmt.Errorf("read the result: %w", err)
	case len(text) > maxResult:
		return fmt.Errorf("the result in GW_RESULT_FILE has more than %d bytes", maxResult)
	case len(bytes.TrimSpace(text)) == 0:
		return nil
	case !json.Valid(text):
		return fmt.Errorf("the result in GW_RESULT_FILE is not valid JSON: %s", excerpt(text))
	}
	return job.SetResult(json.RawMessage(bytes.TrimSpace(text)))
}

func (f resultFile) remove() {
	if f.directory != "" {
		_ = os.RemoveAll(f.directory)
		_ = f.lock.Close() // which does nothing for nil
	}
}

// errIrregular is the error of what cannot be read like a file: opening or reading it may block for ever.
var errIrregular = errors.New("it is not a regular file")

// openRegular opens a file for reading, without waiting for anybody. It refuses what is not a regular file, such as a
// named pipe.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path) // before, because opening a device may have an effect
	if err == nil && !info.Mode().IsRegular() {
		err = errIrregular
	}
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err == nil && !info.Mode().IsRegular() { // it was replaced meanwhile
		err = errIrregular
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// answersJSON reports whether the body of an answer is declared to be JSON.
func answersJSON(header http.Header) bool {
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}
