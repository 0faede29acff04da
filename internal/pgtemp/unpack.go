package pgtemp

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/ulikunitz/xz"
)

// unpack creates the folder home with the files of an archive: a zip that contains a .txz. All users can read the
// files, because the server may run as another user. Nothing is written outside home.
func unpack(archive, home string) error {
	jar, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer jar.Close()
	for _, file := range jar.File {
		if path.Ext(file.Name) != ".txz" {
			continue
		}
		txz, err := file.Open()
		if err != nil {
			return err
		}
		defer txz.Close()
		files, err := xz.NewReader(bufio.NewReader(txz)) // it reads byte by byte
		if err != nil {
			return err
		}
		return unpackTar(tar.NewReader(files), home)
	}
	return errors.New("it contains no .txz file")
}

func unpackTar(files *tar.Reader, home string) error {
	if err := os.Mkdir(home, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(home)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Chmod(".", 0o755); err != nil { // whatever the umask
		return err
	}
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := unpackFile(root, header, files); err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
}

func unpackFile(root *os.Root, header *tar.Header, content io.Reader) error {
	name := path.Clean(header.Name)
	if err := makeFolder(root, path.Dir(name)); err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeDir:
		return makeFolder(root, name)
	case tar.TypeSymlink:
		return root.Symlink(header.Linkname, name)
	case tar.TypeReg:
		return writeFile(root, name, header.FileInfo().Mode(), content)
	default:
		return nil
	}
}

// makeFolder creates a folder and its parents, which all users can enter, whatever the umask.
func makeFolder(root *os.Root, name string) error {
	if name == "." {
		return nil
	}
	if err := makeFolder(root, path.Dir(name)); err != nil {
		return err
	}
	err := root.Mkdir(name, 0o755)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return root.Chmod(name, 0o755)
}

func writeFile(root *os.Root, name string, mode os.FileMode, content io.Reader) error {
	file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	permissions := os.FileMode(0o644)
	if mode&0o100 != 0 {
		permissions = 0o755
	}
	return errors.Join(err, file.Chmod(permissions), file.Close())
}
