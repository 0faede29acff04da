package baddays

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

// The jobs are stored on a disk of 16 MB, which the test fills.
func TestADiskThatIsReallyFullLosesNothing(t *testing.T) {
	t.Parallel()
	disk := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=16m")
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) {
		t.Skip("this machine does not allow a small disk; TestAFullDiskLosesNothing simulates a full disk with a trigger")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // after the server has stopped
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	f := newFleet(t, ownServer(t, nil).URL("postgres"))
	data, err := os.Stat(pgtest.Value[string](t, f.pool, "show data_directory"))
	if err != nil {
		t.Fatal(err)
	}
	// The server must own the folder of a tablespace and be able to enter the path to it.
	space := filepath.Join(disk, "space")
	server := data.Sys().(*syscall.Stat_t)
	if err := errors.Join(os.Mkdir(space, 0o700), os.Chown(space, int(server.Uid), int(server.Gid)),
		openPath(disk)); err != nil {
		t.Fatal(err)
	}
	f.exec("create tablespace small location '" + space + "'")
	f.exec("alter table graphile_worker._private_jobs set tablespace small")

	f.workers(3, f.url)
	l := f.load()
	for range 3 {
		f.awaitMore(100)
		// An old snapshot prevents that space in the table is reused.
		old, err := f.pool.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := old.Exec(t.Context(), "select from graphile_worker._private_jobs limit 1"); err != nil {
			t.Fatal(err)
		}
		filler := filepath.Join(disk, "filler")
		fill(t, filler)
		// The workers continue, because a claim finds room beside the row; the next producer does not.
		full := l.full.Load() + 10
		f.waitUntil("a producer that is refused", func() bool { return l.full.Load() >= full }, f.state)
		if err := errors.Join(os.Remove(filler), old.Rollback(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	f.awaitMore(100)
	l.stop()
	f.await(done)
	f.account(l)
}

// openPath lets all users enter the folders that the test has created above a folder.
func openPath(folder string) error {
	for ; folder != os.TempDir() && folder != "/"; folder = filepath.Dir(folder) {
		if err := os.Chmod(folder, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	block := make([]byte, 4096)
	for err == nil {
		_, err = file.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}
