package usage_test

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/usage"
)

func TestCommandsThatMayBeMeant(t *testing.T) {
	root := &cobra.Command{Use: "root"}
	for _, name := range []string{"jobs", "cron", "doctor", "complete", "completion", "show"} {
		root.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	for word, want := range map[string][]string{
		"job": {"jobs"}, "doctr": {"doctor"}, "compl": {"complete", "completion"}, "sho": {"show"}, "run": nil,
		"x": nil, "rm": nil,
	} {
		if got := usage.Commands(root, word); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", word, got, want)
		}
	}
}

func TestFlagsThatMayBeMeant(t *testing.T) {
	cmd := &cobra.Command{Use: "root", Run: func(*cobra.Command, []string) {}, SilenceErrors: true, SilenceUsage: true}
	cmd.Flags().String("tasks", "", "")
	cmd.Flags().Int("jobs", 0, "")
	cmd.SetFlagErrorFunc(usage.Flag)
	for flag, want := range map[string]string{
		"--task":        "unknown flag: --task; is --tasks meant?",
		"--concurrency": "unknown flag: --concurrency; is --jobs meant?",
		"--nonsense":    "unknown flag: --nonsense", "-x": "unknown shorthand flag: 'x' in -x",
	} {
		cmd.SetArgs([]string{flag})
		if err := cmd.Execute(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
