package serve

import (
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/task"
)

func TestTheHelpersConnectAsTheWorkerDoes(t *testing.T) {
	for _, name := range []string{"PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGDATABASE", "PGSSLMODE",
		"PGSSLROOTCERT", "PGOPTIONS"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	plain := task.NodeDatabase{Host: "db", Port: 5433, User: "ada", Password: "s e", Database: "app", Options: "-c a=b",
		ApplicationName: "x"}
	with := func(tls *task.NodeTLS) task.NodeDatabase {
		database := plain
		database.TLS = tls
		return database
	}
	const text = "host=db port=5433 user=ada password='s e' dbname=app options='-c a=b' application_name=x sslmode="
	for connection, want := range map[string]task.NodeDatabase{
		text + "disable":     with(nil),
		text + "allow":       with(&task.NodeTLS{Optional: true}),
		text + "prefer":      with(&task.NodeTLS{Optional: true}),
		text + "require":     with(&task.NodeTLS{}),
		text + "verify-full": with(&task.NodeTLS{Verify: true, Host: true}),
		text + "verify-ca":   with(&task.NodeTLS{Verify: true}),
		"postgres://ada:s%20e@db:5433/app?sslmode=disable&application_name=x&options=-c%20a%3Db": with(nil),
		"postgres://db/app?user=ada&sslmode=disable&statement_timeout=5s&role=a%20b&search_path=%22a%5Cb%22,c&options=-c%20a%3Db&client_encoding=UTF8": {
			Host: "db", Port: 5432, User: "ada", Database: "app",
			Options: `-c a=b -c role=a\ b -c search_path="a\\b",c -c statement_timeout=5s`,
		},
		"postgres:///app?host=/run/postgresql&user=ada": {Host: "/run/postgresql", Port: 5432, User: "ada",
			Database: "app"},
	} {
		config, err := pgx.ParseConfig(connection)
		if err != nil {
			t.Fatalf("%s: %v", connection, err)
		}
		got := nodeDatabase(config)
		gotTLS, wantTLS := got.TLS, want.TLS
		got.TLS, want.TLS = nil, nil
		if got != want || (gotTLS == nil) != (wantTLS == nil) || gotTLS != nil && *gotTLS != *wantTLS {
			t.Errorf("%s: got %+v %+v, want %+v %+v", connection, got, gotTLS, want, wantTLS)
		}
	}
}

func TestTheFileOfTheAuthoritiesIsTheOneThatTheConnectionNames(t *testing.T) {
	t.Setenv("PGSSLROOTCERT", "from the environment")
	for connection, want := range map[string]string{
		"postgres://db/app?sslmode=verify-full&sslrootcert=%2Froot.pem": "/root.pem",
		"host=db sslrootcert=/root.pem dbname=app":                      "/root.pem",
		"host=db sslrootcert = '/a root.pem'":                           "/a root.pem",
		"dbname=app":                                                    "from the environment",
		"":                                                              "from the environment",
	} {
		if got := rootCertificate(connection); got != want {
			t.Errorf("%s: got %q, want %q", connection, got, want)
		}
	}
}
