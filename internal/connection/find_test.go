package connection_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/connection"
)

func TestConnStringPrefersFlagToDatabaseURLToPGVariables(t *testing.T) {
	for _, name := range []string{"PGHOST", "PGDATABASE", "PGSERVICE"} {
		t.Setenv(name, "")
	}
	t.Setenv("PGDATABASE", "from_pg")
	for _, c := range []struct {
		name, flag, url, database string
	}{
		{"flag as URL", "postgres://u@h:5433/from_flag", "postgres:///from_url", "from_flag"},
		{"flag as key=value", "host=h dbname=from_flag", "postgres:///from_url", "from_flag"},
		{"flag as database name", "from_flag", "postgres:///from_url", "from_flag"},
		{"odd database name", `it's a \ "name"`, "", `it's a \ "name"`},
		{"DATABASE_URL", "", "postgres:///from_url", "from_url"},
		{"DATABASE_URL as database name", "", "from_url", "from_url"},
		{"PGDATABASE", "", "", "from_pg"},
		{"settings of the server", "postgres://u@h/from_flag?statement_timeout=5s&lock_timeout=1s&role=r&search_path=x&my.hots=1", "", "from_flag"},
		{"@ in a parameter", "postgres://h/from_flag?user=a@b", "", "from_flag"},
		{"pool settings", "postgres:///from_flag?pool_max_conns=3", "", "from_flag"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := connection.FromFlag(c.flag, env(map[string]string{"DATABASE_URL": c.url, "PGDATABASE": "from_pg"}))
			if err != nil {
				t.Fatal(err)
			}
			config, err := pgxpool.ParseConfig(text)
			if err != nil {
				t.Fatal(err)
			}
			if config.ConnConfig.Database != c.database {
				t.Errorf("database %q, want %q", config.ConnConfig.Database, c.database)
			}
		})
	}
}

func TestConnStringWithoutAnyHintSaysWhatToSet(t *testing.T) {
	_, err := connection.FromFlag("", env(map[string]string{"PGPASSWORD": "x"}))
	if !errors.Is(err, connection.ErrNone) {
		t.Errorf("got %v", err)
	}
}

func TestConnStringRefusesNonsenseWithoutShowingPasswords(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"bad escape", "postgres://u:s3cret%zz@h/db", "--connection"},
		{"stray slash in the password", "postgres://u:s3cret/w@h:x/db", "--connection"},
		{"no scheme", "u:s3cret@h/db", "--connection"},
		{"another scheme", "mysql://u:s3cret@h/db", "--connection"},
		{"unbalanced quote", "host=h password='s3cret", "--connection"},
		{"bad port", "host=h port=none", "invalid port"},
		{"@ in the password", "postgres://u:p@s3cret@h/db", "more than one @ before the host; in a user or a password, @ is written as %40"},
		{"# in the password", "postgres://u:12#s3cret@h/db", "# is written as %23"},
		{"/ in the password", "postgres://u:12/s3cret@h/db", "/ is written as %2F"},
		{"? in the password", "postgres://u:12?s3cret@h/db", "? is written as %3F"},
		{"Java", "jdbc:postgresql://h:5432/db?user=u&password=s3cret", "write postgres://user:password@host:port/database"},
		{"misspelt in a URL", "postgres://u:s3cret@h/db?sslmod=require", "there is no parameter sslmod; is sslmode meant?"},
		{"misspelt in a list", "host=h pasword=s3cret", "there is no parameter pasword; is password meant?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := connection.FromFlag(c.text, env(nil))
			if err == nil {
				t.Fatal("accepted")
			}
			if strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("message: %v", err)
			}
		})
	}
}

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}
