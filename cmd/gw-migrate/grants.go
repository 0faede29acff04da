package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/pkg/migrate"
)

const grantsHelp = `Grants roles other than the owner the rights that they need to use the queue, according to their kind:
  producer   adds jobs, nothing else; with --tasks, jobs of these tasks only
  worker     claims and reports jobs, and does everything else that gw-run does
             (gw-run --no-migrate --schema <schema>_api)
  scheduler  creates, pauses and removes recurring jobs
  monitor    reads the state of the queue, but no payloads, job keys or errors
  admin      reads everything, and retries, reschedules, fails and removes jobs
The roles must exist. They call functions in the schema <schema>_api and have no rights in the queue's own schema: rights
that they, or PUBLIC, had there are revoked. Roles of earlier calls keep their rights. The database stores the grants:
migrations and repair restore them, and so does this command without a role.

With --revoke the command revokes the grants of the roles in the arguments, or of all roles if there are no arguments.`

const grantsExamples = `  gw-migrate grants --producer app --worker jobs --monitor grafana
  gw-migrate grants --producer shop --tasks send_mail,resize
  gw-migrate grants --worker jobs --print
  gw-migrate grants --revoke shop`

// grants is a run of gw-migrate grants.
type grants struct {
	*command
	wanted migrate.Grants
	revoke bool
	print  bool
}

func (c *command) grantsCommand() *cobra.Command {
	g := &grants{command: c}
	cmd := &cobra.Command{
		Use:     "grants",
		Short:   "Grant roles the rights to add, run, schedule, monitor or administer jobs",
		Long:    grantsHelp,
		Example: grantsExamples,
		RunE:    g.run,
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&g.wanted.Producers, "producer", nil, "`roles` that enqueue jobs")
	flags.StringSliceVar(&g.wanted.Tasks, "tasks", nil, "the only `tasks` that the producers of this call may enqueue")
	flags.StringSliceVar(&g.wanted.Workers, "worker", nil, "`roles` that run jobs")
	flags.StringSliceVar(&g.wanted.Schedulers, "scheduler", nil, "`roles` that create recurring jobs")
	flags.StringSliceVar(&g.wanted.Monitors, "monitor", nil, "`roles` that monitor the queue")
	flags.StringSliceVar(&g.wanted.Admins, "admin", nil, "`roles` that read and change jobs")
	flags.BoolVar(&g.revoke, "revoke", false, "revoke all grants of the roles in the arguments, or of all roles")
	flags.BoolVar(&g.print, "print", false, "print the SQL, change nothing")
	flags.SortFlags = false
	c.addLockTimeout(cmd)
	return cmd
}

func (g *grants) run(cmd *cobra.Command, roles []string) error {
	w := g.wanted
	named := len(w.Producers) + len(w.Workers) + len(w.Schedulers) + len(w.Monitors) + len(w.Admins)
	switch {
	case g.revoke && (named > 0 || len(w.Tasks) > 0):
		return errors.New("--revoke takes roles as arguments, not with --producer, --worker and so on")
	case !g.revoke && len(roles) > 0:
		return fmt.Errorf("%q: give roles with --producer, --worker, --scheduler, --monitor or --admin", roles[0])
	case len(w.Tasks) > 0 && len(w.Producers) == 0:
		return errors.New("--tasks requires --producer")
	}
	migrator, err := g.migrator()
	if err != nil {
		return err
	}
	if g.print {
		return g.printSQL(cmd, migrator, roles)
	}
	var done migrate.Granting
	if g.revoke {
		done, err = migrator.Revoke(cmd.Context(), roles...)
	} else {
		done, err = migrator.Grant(cmd.Context(), w)
	}
	if err != nil {
		return refused(err)
	}
	for _, granted := range done.Granted {
		if _, err := fmt.Fprintln(g.stdout, granted); err != nil {
			return failed(fmt.Errorf("print grants: %w", err))
		}
	}
	for _, role := range done.Others {
		fmt.Fprintf(g.stderr, "warning: role %q has other rights in schema %q, which are not changed\n", role, g.schema)
	}
	if len(done.Granted) == 0 {
		fmt.Fprintf(g.stderr, "only the owner may use schema %q\n", g.schema)
	} else {
		fmt.Fprintf(g.stderr, "these roles use the queue in schema %q through schema %q\n", g.schema, g.schema+"_api")
	}
	return nil
}

func (g *grants) printSQL(cmd *cobra.Command, migrator *migrate.Migrator, roles []string) (err error) {
	var text string
	if g.revoke {
		text, err = migrator.RevokeSQL(cmd.Context(), roles...)
	} else {
		text, err = migrator.GrantSQL(cmd.Context(), g.wanted)
	}
	if err != nil {
		return refused(err)
	}
	if _, err := fmt.Fprint(g.stdout, text); err != nil {
		return failed(fmt.Errorf("print SQL: %w", err))
	}
	return nil
}
