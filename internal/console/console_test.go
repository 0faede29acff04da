package console

import (
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestAnAddressThatOthersReachNeedsAuthentication(t *testing.T) {
	for address, isOpen := range map[string]bool{
		"": false, "127.0.0.1:1": false, "127.8.9.1:1": false, "localhost:1": false, "[::1]:1": false,
		":9465": true, "0.0.0.0:1": true, "[::]:1": true, "192.0.2.7:1": true, "example.com:1": true,
	} {
		if err := (Options{Address: address}).Check(); (err != nil) != isOpen {
			t.Errorf("%q without authentication: %v", address, err)
		}
		for _, o := range []Options{{Address: address, AuthFile: "f"}, {Address: address, UserHeader: "X-User"}} {
			if err := o.Check(); err != nil {
				t.Errorf("%+v: %v", o, err)
			}
		}
	}
	for _, o := range []Options{{Address: "127.0.0.1"}, {AuthFile: "f", UserHeader: "h"}} {
		if o.Check() == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	if (Options{Address: "0.0.0.0:1"}).CheckLoopback() == nil ||
		(Options{Address: "localhost:1"}).CheckLoopback() != nil {
		t.Error("a console beside a worker listens on other addresses than loopback")
	}
}

// open serves a console, and returns what it answers to a request.
func open(t *testing.T, o Options) func(change func(*http.Request)) int {
	t.Helper()
	o.Address, o.Logger = "127.0.0.1:0", slog.New(slog.NewTextHandler(t.Output(), nil))
	server, err := Serve(pgtest.Pool(t, pgtest.Database(t)), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return func(change func(*http.Request)) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL()+"help", nil)
		if err != nil {
			t.Fatal(err)
		}
		change(r)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer.StatusCode
	}
}

func TestOnlyWhoHasAPasswordEnters(t *testing.T) {
	hash, err := bcrypt.GenerateFromPassword([]byte("right"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(file, []byte("# users\nada:"+string(hash)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := open(t, Options{AuthFile: file})
	for _, c := range []struct {
		name, password string
		want           int
	}{{"ada", "wrong", 401}, {"ada", "right", 200}, {"ada", "right", 200}, {"ada", "wrong", 401}, {"eve", "right", 401},
		{"", "", 401}} {
		if got := ask(func(r *http.Request) { r.SetBasicAuth(c.name, c.password) }); got != c.want {
			t.Errorf("%s with the password %s is answered by %d, want %d", c.name, c.password, got, c.want)
		}
	}
}

func TestAConsoleIsServedUnderAPrefix(t *testing.T) {
	for prefix, isOne := range map[string]bool{"": true, "/ops": true, "/ops/queue": true, "ops": false, "/": false,
		"/ops/": false, "/a/../b": false, "/{x}": false} {
		if err := (Options{Prefix: prefix}).Check(); (err == nil) != isOne {
			t.Errorf("the prefix %q: %v", prefix, err)
		}
	}
	server, err := Serve(pgtest.Pool(t, pgtest.Database(t)), Options{
		Address: "127.0.0.1:0", Prefix: "/ops/queue", Operator: "ada@laptop", Color: "red",
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	at := "http://" + server.address.String()
	for from, to := range map[string]string{"/": "/ops/queue/", "/ops/queue": "/ops/queue/",
		"/ops/queue/help": "/ops/queue/help"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+from, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != 200 || answer.Request.URL.Path != to ||
			!strings.Contains(string(body), "You are <b>ada@laptop</b>") ||
			!strings.Contains(string(body), `<header data-color="red">`) {
			t.Errorf("%s leads to %s: %d %v %s", from, answer.Request.URL, answer.StatusCode, err, body)
		}
	}
	if server.URL() != at+"/ops/queue/" {
		t.Errorf("the URL is %s", server.URL())
	}
}

func TestAFileOfPasswordsThatIsNoneIsRefused(t *testing.T) {
	for text, want := range map[string]string{"ada:secret\n": ":1 is not a name and a bcrypt hash",
		"# nobody\n": "contains no names"} {
		file := filepath.Join(t.TempDir(), "users")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readPasswords(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := readPasswords("/nowhere"); err == nil {
		t.Error("a file that is not there is accepted")
	}
}

func TestAProxyTellsWhoEnters(t *testing.T) {
	ask := open(t, Options{UserHeader: "X-User", Hosts: []string{"queue.example.com"}})
	if got := ask(func(*http.Request) {}); got != 403 {
		t.Errorf("nobody is answered by %d", got)
	}
	if got := ask(func(r *http.Request) { r.Header.Set("X-User", "ada"); r.Host = "queue.example.com" }); got != 200 {
		t.Errorf("a user is answered by %d", got)
	}
	if got := ask(func(r *http.Request) { r.Header.Set("X-User", "ada"); r.Host = "evil.example" }); got != 421 {
		t.Errorf("another host is answered by %d", got)
	}
}
