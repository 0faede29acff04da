// Package pgmirror imitates a Maven repository with archives of PostgreSQL's server as zonky.io builds them: a .txz in
// a .jar. Tests of the download serve it on the loopback.
package pgmirror

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/ulikunitz/xz"
)

// Archive packs the files and symbolic links of a folder with bin and, for a complete server, lib and share.
func Archive(dir string) ([]byte, error) {
	var archive bytes.Buffer
	jar := zip.NewWriter(&archive)
	file, err := jar.Create("postgres.txz")
	if err != nil {
		return nil, err
	}
	compressor, err := xz.NewWriter(file)
	if err != nil {
		return nil, err
	}
	tarball := tar.NewWriter(compressor)
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return add(tarball, dir, path, entry)
	})
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", dir, err)
	}
	for _, closer := range []io.Closer{tarball, compressor, jar} {
		if err := closer.Close(); err != nil {
			return nil, err
		}
	}
	return archive.Bytes(), nil
}

func add(tarball *tar.Writer, dir, path string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	target := ""
	if info.Mode().Type() == fs.ModeSymlink {
		if target, err = os.Readlink(path); err != nil {
			return err
		}
	}
	header, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return err
	}
	if header.Name, err = filepath.Rel(dir, path); err != nil {
		return err
	}
	if err := tarball.WriteHeader(header); err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(tarball, file)
	return err
}

// Handler answers requests for any .jar with the archive, and for its .sha256 with the checksum.
func Handler(archive []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, ".jar"):
			_, _ = w.Write(archive) // the client notices a failure
		case strings.HasSuffix(r.URL.Path, ".jar.sha256"):
			fmt.Fprintf(w, "%x\n", sha256.Sum256(archive))
		default:
			http.NotFound(w, r)
		}
	})
}
