// Package limits has the commands of gw-run that limit and pause jobs.
package limits

import (
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
)

// Commands returns the commands, in the order of the help.
func Commands(env cli.Env) []*cobra.Command {
	return []*cobra.Command{
		newLimitCommand(env), newPauseCommand(env), newResumeCommand(env), newPausesCommand(env),
	}
}
