package gwrun

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

// checkCrontab runs gw-run cron check on a crontab, and returns its output without the name of the folder.
func checkCrontab(t *testing.T, text string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "crontab")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(pgtest.Program(t, "gw-run"), append([]string{"cron", "check", path}, args...)...)
	cmd.Env = environment(nil)
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	cut := strings.NewReplacer(dir+string(filepath.Separator), "")
	return cut.Replace(out.String()), cut.Replace(errOut.String()), err
}

func TestACrontabIsCheckedWithItsNextRunsInBothClocks(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	pool := pgtest.Pool(t, url)
	year := pgtest.Value[int](t, pool, "select extract(year from now() at time zone 'UTC')::int")
	stdout, stderr, err := checkCrontab(t, "0 0 1 1 * yearly\n30 8 1 7 * berlin ?tz=Europe/Berlin\n0 0 30 2 * never\n",
		"-c", url)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	var want strings.Builder
	want.WriteString("line 1: 0 0 1 1 * yearly\n")
	for i := range 5 {
		at := time.Date(year+1+i, time.January, 1, 0, 0, 0, 0, time.UTC)
		want.WriteString("  " + at.Format("Mon 2006-01-02 15:04") + " UTC\n")
	}
	want.WriteString("line 2: 30 8 1 7 * berlin tz=Europe/Berlin\n")
	first := time.Date(year, time.July, 1, 6, 30, 0, 0, time.UTC)
	if !first.After(pgtest.Value[time.Time](t, pool, "select now()")) {
		first = first.AddDate(1, 0, 0)
	}
	for i := range 5 {
		at := first.AddDate(i, 0, 0)
		want.WriteString("  " + at.Format("Mon 2006-01-02 15:04") + " UTC, " + at.Format("Mon 2006-01-02") +
			" 08:30 Europe/Berlin\n")
	}
	want.WriteString("line 3: 0 0 30 2 * never\n  never runs\ncrontab is valid: 3 items.\n")
	if stdout != want.String() {
		t.Errorf("got\n%s, want\n%s", stdout, want.String())
	}
}

func TestATimeZoneThatTheDatabaseDoesNotKnowIsAProblem(t *testing.T) {
	t.Parallel()
	_, stderr, err := checkCrontab(t, "* * * * * a\n* * * * * b ?tz=Europe/Atlantis\n", "-c", pgtest.Database(t))
	if err == nil || !strings.Contains(stderr, "crontab:2:1: Time zone 'Europe/Atlantis' is not known") ||
		!strings.Contains(stderr, "problems in crontab: 1") {
		t.Errorf("got the error %v and\n%s", err, stderr)
	}
}

func TestACrontabIsNotCheckedWhereThereIsNoQueue(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	_, stderr, err := checkCrontab(t, "* * * * * a\n", "-c", pgtest.EmptyDatabase(t))
	if err == nil || !strings.Contains(stderr, "gw-migrate installs and upgrades the queue") {
		t.Errorf("got the error %v and\n%s", err, stderr)
	}
}
