package queue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/terminal"
)

const doctorHelp = `Reports the current problems of the queue, most severe first, with their effect and a remedy:
  critical  jobs cannot be added or run, or soon cannot
  warning   it costs time or space, or jobs wait
  info      for information

The exit code is 1 if there is a finding of the severity of --fail-on or above. The command changes nothing, and its
cost is low however large the queue is. Run it as the owner of the queue; with the role pg_read_all_stats it sees more
of other roles' sessions.`

const doctorExamples = `  gw-run doctor
  gw-run doctor --fail-on critical
  gw-run doctor --json | jq -r .remedy`

// severities are all severities, the most severe first.
var severities = []string{"critical", "warning", "info"}

func newDoctorCommand(env cli.Env) *cobra.Command {
	var (
		l      cli.Listing
		failOn string
	)
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Report problems of the queue, with remedies",
		Long:    doctorHelp,
		Example: doctorExamples,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			least := slices.Index(append(severities, "never"), failOn)
			if least < 0 {
				return cli.Usagef("--fail-on is %q, must be critical, warning, info or never", failOn)
			}
			if failOn == "never" {
				least = -1
			}
			return l.Run(cmd, env, func(ctx context.Context, db *cli.Session, out, _ io.Writer) error {
				worst, err := examine(ctx, db, l.JSON, out)
				if err == nil && worst <= least && l.Watch == 0 {
					err = errors.New("the findings above need attention")
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&failOn, "fail-on", "warning", "lowest `severity` with which the exit code is 1: critical, warning, info or never")
	l.AddFlags(cmd, env.Getenv)
	cli.CompleteWords(cmd, "fail-on", append(severities, "never")...)
	return cmd
}

// examine prints the findings of doctor() and returns the index in severities of the most severe one.
func examine(ctx context.Context, db *cli.Session, asJSON bool, out io.Writer) (worst int, err error) {
	findings, found, err := cli.Rows[inspect.Finding](db.Ask(ctx, `select d.* from S.doctor() as d`))
	if err != nil {
		return 0, fmt.Errorf("examine the queue: %w", err)
	}
	worst = len(severities)
	for _, f := range findings {
		worst = min(worst, slices.Index(severities, f.Severity))
	}
	if asJSON {
		return worst, cli.PrintJSON(out, found)
	}
	if len(findings) == 0 {
		_, err := fmt.Fprintln(out, "All is well.")
		return worst, err
	}
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%s: %s: %s\n", f.Severity, f.Finding, terminal.Printable(f.Subject))
		fmt.Fprintf(&b, "  %s\n  -> %s\n", terminal.Printable(f.Detail), terminal.Printable(f.Remedy))
	}
	_, err = io.WriteString(out, b.String())
	return worst, err
}
