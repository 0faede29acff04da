package serve

import (
	"errors"
	"io/fs"

	"github.com/gwsql/gw/internal/config"
)

// ConfigFile says where the config is.
type ConfigFile struct {
	Path     string
	Optional bool // nobody asked for it, so it need not be there
	Getenv   func(string) string
}

// Read returns what the file says: nothing if it need not be there and is not.
func (f ConfigFile) Read() (*config.File, error) {
	file, err := config.Load(f.Path, f.Getenv)
	if f.Optional && errors.Is(err, fs.ErrNotExist) {
		return &config.File{Path: f.Path}, nil
	}
	return file, err
}
