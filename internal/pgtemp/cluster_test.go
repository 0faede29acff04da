package pgtemp

import (
	"bufio"
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestAServerAnswersAndStopLeavesNeitherProcessNorFolder(t *testing.T) {
	server := startForTest(t, Options{LocalOnly: true})
	dir, pid := traces(t, server.URL("postgres"))
	for range 2 {
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder %s is still there: %v", dir, err)
	}
	if alive(pid) {
		t.Errorf("the server %d is still running", pid)
	}
}

func TestAServerDoesNotOutliveAStarterThatWasKilled(t *testing.T) {
	starter := exec.Command(os.Args[0])
	starter.Env = append(os.Environ(), "GW_PGTEMP_ROLE=starter")
	stdin, err := starter.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := starter.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := starter.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the starter said %q: %v", line, err)
	}
	conn := connect(t, strings.TrimSpace(line))
	dir, _ := traces(t, strings.TrimSpace(line))

	if err := starter.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// Less than the watchdog's patience with the server: after that the server would end because its files are gone.
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	defer cancel()
	if _, err := conn.WaitForNotification(ctx); ctx.Err() != nil {
		t.Fatalf("the server still runs: %v", err)
	}
	for {
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			break
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the folder %s is still there", dir)
		case <-time.After(10 * time.Millisecond):
		}
	}
	_ = starter.Wait()
}

func TestSettingsWinAndAServerHasNoPort(t *testing.T) {
	server := startForTest(t, Options{LocalOnly: true, Settings: map[string]string{"max_connections": "17",
		"fsync": "on"}})
	conn := connect(t, server.URL("postgres"))
	for name, want := range map[string]string{"max_connections": "17", "fsync": "on", "listen_addresses": ""} {
		var got string
		if err := conn.QueryRow(t.Context(), "select current_setting($1)", name).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestTheURLOfAnyDatabaseServesPgxAndPsql(t *testing.T) {
	t.Setenv("PGPORT", "1") // must not matter
	name := `a b%20c/d?e=f&"g"`
	server := startForTest(t, Options{LocalOnly: true})
	if _, err := connect(t, server.URL("postgres")).Exec(t.Context(),
		"create database "+pgx.Identifier{name}.Sanitize()); err != nil {
		t.Fatal(err)
	}
	var got string
	if err := connect(t, server.URL(name)).QueryRow(t.Context(), "select current_database()").Scan(&got); err != nil ||
		got != name {
		t.Errorf("pgx is in %q, want %q: %v", got, name, err)
	}
	out, err := exec.Command("psql", "-XAtc", "select current_database()", server.URL(name)).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != name {
		t.Errorf("psql is in %q, want %q: %v", out, name, err)
	}
}

func TestAServerThatCannotStartSaysWhyAndLeavesNothing(t *testing.T) {
	tmp := openFolder(t)
	t.Setenv("TMPDIR", tmp)
	_, err := Start(t.Context(), Options{LocalOnly: true, Settings: map[string]string{"work_mem": "lots"}})
	if err == nil || !strings.Contains(err.Error(), `invalid value for parameter "work_mem": "lots"`) {
		t.Errorf("want the server's own words, got %v", err)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestACancelledStartLeavesNothing(t *testing.T) {
	tmp := openFolder(t)
	t.Setenv("TMPDIR", tmp)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, Options{LocalOnly: true}); err == nil {
		t.Error("want an error")
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestALongTemporaryFolderDoesNotBreakTheSocket(t *testing.T) {
	tmp := filepath.Join(openFolder(t), strings.Repeat("long", 25))
	if err := os.Mkdir(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", tmp)
	connect(t, startForTest(t, Options{LocalOnly: true}).URL("postgres"))
}

func startForTest(t *testing.T, o Options) *Server {
	t.Helper()
	server, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

func connect(t *testing.T, databaseURL string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// traces returns what a server has on this machine: its folder and its process.
func traces(t *testing.T, databaseURL string) (dir string, pid int) {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	dir = u.Query().Get("host")
	pidfile, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(pidfile), "\n")
	pid, err = strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	if !alive(pid) {
		t.Fatalf("the server %d does not run", pid)
	}
	return dir, pid
}

func alive(pid int) bool {
	process, err := os.FindProcess(pid)
	return err == nil && process.Signal(syscall.Signal(0)) == nil
}

// openFolder returns a temporary folder that every user can enter, which t.TempDir is not, and its owner can write.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gw-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
