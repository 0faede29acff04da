//go:build !unix

package task

import "os"

// lockFolder does nothing: there are no locks of folders.
func lockFolder(string, bool) (*os.File, error) { return nil, nil }
