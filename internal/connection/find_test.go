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
		{"blanks around it", " postgres://u:p@h/from_flag\n", "", "from_flag"},
		{"a URL as a value", "host=h password=a://b dbname=from_flag", "", "from_flag"},
		{"pool settings", "postgres:///from_flag?pool_max_conns=3", "", "from_flag"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := connection.FromFlag(c.flag,
				env(map[string]string{"DATABASE_URL": c.url, "PGDATABASE": "from_pg"}))
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
		{"bad port", "host=h port=none", "port is a number from 1 to 65535"},
		{"bad port in a URL", "postgres://u:s3cret@h:54x32/db", "port is a number from 1 to 65535"},
		{"scheme of SQLAlchemy", "postgresql+psycopg2://u:s3cret@h/db?x=1", "not one that begins with postgres://"},
		{"scheme of asyncpg", "postgresql+asyncpg://u:s3cret@h/db?ssl=require", "not one that begins with postgres://"},
		{"scheme of Rails", "postgis://u:s3cret@h/db?pool=5", "not one that begins with postgres://"},
		{"scheme in capitals", "POSTGRES://u:s3cret@h/db?x=1", "not one that begins with postgres://"},
		{"scheme of Prisma's proxy", "prisma://u:s3cret@h/?api_key=s3cret", "not one that begins with postgres://"},
		{"no scheme, a parameter", "u:s3cret@h/db?x=1", "is not the name of a parameter"},
		{"a URL within a list", "host=h postgres://u:s3cret@h/db?x=1", "is not the name of a parameter"},
		{"no-verify", "postgres://u:s3cret@h/db?sslmode=no-verify",
			"sslmode is one of disable, allow, prefer, require, verify-ca, verify-full; require does not verify"},
		{"sslmode=true", "host=h password=s3cret sslmode=true", "sslmode is one of"},
		{"seconds with a unit", "postgres://u:s3cret@h/db?connect_timeout=5s",
			"connect_timeout is a number of seconds without a unit, such as 5"},
		{"seconds with a unit in a list", "host=h password='s3 cret' connect_timeout='5 s'",
			"connect_timeout is a number of seconds"},
		{"double quotes", `"postgres://u:s3cret@h/db"`, "there are quotes around it"},
		{"single quotes", `'postgres://u:s3cret@h/db'`, "there are quotes around it"},
		{"a blank in a URL", "postgres://u:s3cret@h/a db", "there is a blank in it"},
		{"ssl", "postgres://u:s3cret@h/db?ssl=1", "there is no parameter ssl here; write sslmode=require"},
		{"Prisma's schema", "postgres://u:s3cret@h/db?schema=public",
			"there is no parameter schema here; use --schema"},
		{"Prisma's limit", "postgres://u:s3cret@h/db?connection_limit=5", "write pool_max_conns"},
		{"Prisma's pooler", "postgres://u:s3cret@h/db?pgbouncer=true",
			"there is no parameter pgbouncer here; leave it out"},
		{"libpq's keepalives", "host=h password=s3cret keepalives_idle=30",
			"there is no parameter keepalives_idle here; leave it out"},
		{"libpq's gssencmode", "postgres://u:s3cret@h/db?gssencmode=disable",
			"there is no parameter gssencmode here; leave it out"},
		{"libpq's hostaddr", "hostaddr=10.0.0.1 password=s3cret", "there is no parameter hostaddr here; write host"},
		{"libpq's fallback", "postgres://u:s3cret@h/db?fallback_application_name=a", "write application_name"},
		{"@ in the password", "postgres://u:p@s3cret@h/db",
			"more than one @ before the host; in a user or a password, @ is written as %40"},
		{"# in the password", "postgres://u:12#s3cret@h/db", "# is written as %23"},
		{"/ in the password", "postgres://u:12/s3cret@h/db", "/ is written as %2F"},
		{"? in the password", "postgres://u:12?s3cret@h/db", "? is written as %3F"},
		{"Java", "jdbc:postgresql://h:5432/db?user=u&password=s3cret",
			"write postgres://user:password@host:port/database"},
		{"misspelt in a URL", "postgres://u:s3cret@h/db?sslmod=require",
			"there is no parameter sslmod; is sslmode meant?"},
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

func TestAVariableWithAWrongValueIsNamed(t *testing.T) {
	for name, value := range map[string]string{"PGSSLMODE": "no-verify", "PGCONNECT_TIMEOUT": "5s", "PGPORT": "none"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			_, err := connection.FromFlag("postgres://u:s3cret@h/db", env(map[string]string{name: value}))
			if err == nil || !strings.Contains(err.Error(), name+" is ") {
				t.Errorf("message: %v", err)
			}
		})
	}
}
