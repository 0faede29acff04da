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

	"github.com/gwsql/gw/pkg/shim"
)

// maxResult is the maximum size of a result in bytes, beyond which it is not read: the largest value of the setting max_result.
const maxResult = 64 << 20

// resultFile is the file to which a program may write the result of its job, as JSON. It is in a folder that only this user can
// read, and does not exist until the program creates it.
type resultFile struct{ directory string }

// newResultFile returns the file of a job. Without a folder for temporary files there is none.
func newResultFile() resultFile {
	directory, _ := os.MkdirTemp("", "gw-result-") // empty after an error
	return resultFile{directory}
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
	file, err := os.Open(f.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the result: %w", err)
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
	}
}

// answersJSON reports whether the body of an answer is declared to be JSON.
func answersJSON(header http.Header) bool {
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}
