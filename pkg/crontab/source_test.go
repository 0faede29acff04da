package crontab_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gwsql/gw/pkg/crontab"
)

func TestItemsAreCollectedFromAllSourcesInOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "crontab")
	if err := os.WriteFile(path, []byte("* * * * * c\n* * * * * d"), 0o600); err != nil {
		t.Fatal(err)
	}
	made, err := crontab.EveryMinute("a", nil)
	if err != nil {
		t.Fatal(err)
	}
	items, err := crontab.Collect(made, crontab.Text("* * * * * b"), crontab.File(path))
	if err != nil {
		t.Fatal(err)
	}
	var tasks []string
	for _, item := range items {
		tasks = append(tasks, item.Task)
	}
	if got := strings.Join(tasks, " "); got != "a b c d" {
		t.Errorf("got %s, want a b c d", got)
	}
	if items, err := crontab.Collect(); err != nil || len(items) != 0 {
		t.Errorf("no sources: got %v and %v", items, err)
	}
}

func TestACollectionThatIsWrongSaysAllThatIs(t *testing.T) {
	missing := crontab.File(filepath.Join(t.TempDir(), "crontab"))
	made, err := crontab.EveryMinute("a", &crontab.Options{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	items, err := crontab.Collect(crontab.Text("* * * * * b"), crontab.Text("@daily c"), missing, made)
	var wrong *crontab.Error
	if items != nil || !errors.As(err, &wrong) || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("got %v and the error %v, want no items", items, err)
	}
	if want := `identifier "b" of a recurring job occurs twice`; !strings.Contains(err.Error(), want) {
		t.Errorf("got the error %v, want %q", err, want)
	}
}
