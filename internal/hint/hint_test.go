package hint_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/hint"
)

func TestCommandsThatMayBeMeant(t *testing.T) {
	root := &cobra.Command{Use: "root"}
	for _, name := range []string{"jobs", "cron", "doctor", "complete", "completion", "show"} {
		root.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	for word, want := range map[string][]string{
		"job": {"jobs"}, "doctr": {"doctor"}, "compl": {"complete", "completion"}, "sho": {"show"}, "run": nil, "x": nil, "rm": nil,
	} {
		if got := hint.Commands(root, word); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", word, got, want)
		}
	}
}

func TestFlagsThatMayBeMeant(t *testing.T) {
	cmd := &cobra.Command{Use: "root", Run: func(*cobra.Command, []string) {}, SilenceErrors: true, SilenceUsage: true}
	cmd.Flags().String("tasks", "", "")
	cmd.Flags().Int("jobs", 0, "")
	cmd.SetFlagErrorFunc(hint.Flag)
	for flag, want := range map[string]string{
		"--task": "unknown flag: --task; is --tasks meant?", "--concurrency": "unknown flag: --concurrency; is --jobs meant?",
		"--nonsense": "unknown flag: --nonsense", "-x": "unknown shorthand flag: 'x' in -x",
	} {
		cmd.SetArgs([]string{flag})
		if err := cmd.Execute(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestErrorsOfTheDatabaseSayWhatToDo(t *testing.T) {
	for code, c := range map[string]struct{ message, want string }{
		"3D000": {`database "app" does not exist`, "; createdb app makes it"},
		"25006": {"cannot execute INSERT in a read-only transaction", "; the server takes no writes"},
		"40001": {"x", ""},
	} {
		err := fmt.Errorf("connect: %w", &pgconn.PgError{Code: code, Message: c.message})
		got := hint.For(err)
		if !errors.Is(got, err) || !strings.HasPrefix(got.Error(), err.Error()+c.want) || (c.want == "" && got != err) {
			t.Errorf("%v, want %s", got, c.want)
		}
	}
	odd := hint.For(&pgconn.PgError{Code: "3D000", Message: `database "a b" does not exist`})
	if !strings.HasSuffix(odd.Error(), "; createdb makes it") {
		t.Error(odd)
	}
}
