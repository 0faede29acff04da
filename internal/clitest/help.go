// Package clitest checks commands in their tests.
package clitest

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// CheckHelp fails the test if the help of a command or of a subcommand is incomplete: each command needs a short line
// that begins with a capital and ends without a full stop, a description, and an example that calls it; each flag needs
// a description.
func CheckHelp(t *testing.T, cmd *cobra.Command) {
	t.Helper()
	path := cmd.CommandPath()
	if cmd.Short == "" || strings.ToUpper(cmd.Short[:1]) != cmd.Short[:1] || strings.HasSuffix(cmd.Short, ".") {
		t.Errorf("%s: the short description is %q", path, cmd.Short)
	}
	if cmd.Long == "" {
		t.Errorf("%s: no description", path)
	}
	if !strings.Contains(cmd.Example, path) {
		t.Errorf("%s: no example", path)
	}
	for line := range strings.Lines(cmd.Long + "\n" + cmd.Example) {
		if width := len([]rune(strings.TrimRight(line, "\n"))); width > 125 {
			t.Errorf("%s: a line of the help has %d characters: %s", path, width, line)
		}
	}
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Usage == "" {
			t.Errorf("%s: --%s has no description", path, flag.Name)
		}
	})
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			CheckHelp(t, sub)
		}
	}
}
