// Package jobs has the commands of gw-run that show and change jobs.
package jobs

import (
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
)

// Commands returns the commands, in the order of the help.
func Commands(env cli.Env) []*cobra.Command {
	return []*cobra.Command{
		newAddCommand(env), newJobsCommand(env), newShowCommand(env), newHistoryCommand(env), newWhyCommand(env),
		newRetryCommand(env), newCopyCommand(env), newWaitCommand(env), newExportCommand(env),
		newImportCommand(env), newRescheduleCommand(env), newCompleteCommand(env), newFailCommand(env),
		newCancelCommand(env), newRemoveCommand(env),
	}
}
