package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/pkg/migrate"
)

const grantsHelp = `Lets roles other than the owner use the queue, each as far as its kind goes:
  producer   enqueue jobs, nothing else; with --tasks, jobs of these tasks only
  worker     claim and report jobs, and whatever else gw-run does (gw-run --no-migrate --schema <schema>_api)
  scheduler  set up, pause and remove recurring jobs
  monitor    see how the queue is; no payloads, job keys or errors
  admin      see everything, and retry, reschedule, fail and remove jobs
The roles have to exist. They call functions in the schema <schema>_api, and have no rights in the queue's own; what they
had been granted there is taken from them, and from everybody at large. Roles named before keep what they have. The
database remembers them: migrations and repair give them their rights again, and so does this command without a role.

With --revoke the roles in the arguments lose what they were given; without arguments, all do.`

const grantsExamples = `  gw-migrate grants --producer app --worker jobs --monitor grafana
  gw-migrate grants --producer shop --tasks send_mail,resize
  gw-migrate grants --worker jobs --print
  gw-migrate grants --revoke shop`

// grants is a call of gw-migrate grants.
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
		Short:   "Give roles the rights to enqueue, work, schedule, monitor or administer, and no others",
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
		return errors.New("--revoke takes roles as arguments, not by their kinds")
	case !g.revoke && len(roles) > 0:
		return fmt.Errorf("%q: name roles by --producer, --worker, --scheduler, --monitor or --admin", roles[0])
	case len(w.Tasks) > 0 && len(w.Producers) == 0:
		return errors.New("--tasks goes with --producer")
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
		fmt.Fprintf(g.stderr, "warning: role %q has other rights in schema %q, which are left as they are\n", role, g.schema)
	}
	if len(done.Granted) == 0 {
		fmt.Fprintf(g.stderr, "only the owner may use schema %q\n", g.schema)
	} else {
		fmt.Fprintf(g.stderr, "they use the queue in schema %q by schema %q\n", g.schema, g.schema+"_api")
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
