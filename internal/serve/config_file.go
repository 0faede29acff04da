package serve

import (
	"errors"
	"io/fs"

	"github.com/gwsql/gw/internal/config"
)

// ConfigFile is the location of the config file.
type ConfigFile struct {
	Path     string
	Optional bool // not requested, so it need not exist
	Getenv   func(string) string
}

// Read returns the content of the file, or nothing if it is optional and does not exist.
func (f ConfigFile) Read() (*config.File, error) {
	file, err := config.Load(f.Path, f.Getenv)
	if f.Optional && errors.Is(err, fs.ErrNotExist) {
		return &config.File{Path: f.Path}, nil
	}
	return file, err
}
