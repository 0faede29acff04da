// Package queue has the commands of gw-run that show and maintain the queue.
package queue

import (
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
)

// Commands returns the commands, in the order of the help.
func Commands(env cli.Env) []*cobra.Command {
	return []*cobra.Command{
		newQueuesCommand(env), newTasksCommand(env), newWorkersCommand(env), newDrainCommand(env),
		newUnlockCommand(env), newCleanupCommand(env), newStatsCommand(env), newDoctorCommand(env),
		newHealthcheckCommand(env), newUICommand(env),
	}
}
