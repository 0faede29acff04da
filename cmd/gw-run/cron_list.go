package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"
)

const cronListHelp = `Prints the recurring jobs that the database knows: the schedules that were set up by cron_schedule(), and the items of
crontabs that a worker has ever started with. Times are in UTC.

Of an item of a crontab the database has the identifier and the last minute that ran; the rest is in the crontab, and gw-run
cron check shows it. SOURCE tells how many registered workers have it now. Workers of Graphile Worker do not register.`

func newCronListCommand(getenv func(string) string) *cobra.Command {
	var to database
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show the recurring jobs that the database knows",
		Long:  cronListHelp,
		Example: `  gw-run cron list --connection postgres:///app
  gw-run cron list --schema jobs`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := to.complete(getenv); err != nil {
				return usageError{err}
			}
			return listCron(cmd.Context(), to, cmd.OutOrStdout())
		},
	}
	to.addFlags(cmd.Flags(), getenv)
	return cmd
}

// listCron prints the recurring jobs as a table.
func listCron(ctx context.Context, from database, out io.Writer) error {
	config, err := from.pool()
	if err != nil {
		return err
	}
	db, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer db.Close(context.WithoutCancel(ctx))
	jobs, err := recurringJobs(ctx, db, from.schema)
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) && refusal.Code == "42P01" { // there is no such view
		return fmt.Errorf("list recurring jobs: %w; gw-migrate installs and upgrades the queue", err)
	}
	if err != nil {
		return fmt.Errorf("list recurring jobs: %w", err)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "IDENTIFIER\tSOURCE\tTASK\tPATTERN\tZONE\tNEXT RUN\tLAST RUN\tLAST OUTCOME")
	for _, job := range jobs {
		fmt.Fprintln(table, strings.Join(job, "\t"))
	}
	return table.Flush()
}

// recurringJobs returns the cells of the table, "-" where there is nothing to say.
func recurringJobs(ctx context.Context, db *pgx.Conn, schema string) ([][]string, error) {
	rows, err := db.Query(ctx, strings.ReplaceAll(`
		select r.identifier,
		       case when r.is_schedule then 'schedule'
		            when cardinality(r.workers) = 0 then 'crontab of none'
		            when cardinality(r.workers) = 1 then 'crontab of 1 worker'
		            else format('crontab of %s workers', cardinality(r.workers)) end,
		       coalesce(s.task_identifier, '-'),
		       coalesce(s.pattern, '-'),
		       coalesce(s.time_zone, '-'),
		       case when s.paused then 'paused'
		            else coalesce(to_char(s.next_run at time zone 'UTC', $1::text), '-') end,
		       coalesce(to_char(r.last_run at time zone 'UTC', $1::text), '-'),
		       coalesce(s.last_outcome, '-')
		  from S.recurring_jobs as r
		  left join S.cron_schedules as s on s.identifier = r.identifier
		 order by r.identifier`, "S.", pgx.Identifier{schema}.Sanitize()+"."), "YYYY-MM-DD HH24:MI")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]string, error) {
		cells := make([]string, len(row.FieldDescriptions()))
		targets := make([]any, len(cells))
		for i := range cells {
			targets[i] = &cells[i]
		}
		err := row.Scan(targets...)
		return cells, err
	})
}
