package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/hint"
	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/seconds"
	"github.com/gwsql/gw/internal/terminal"
	"github.com/gwsql/gw/pkg/migrate"
)

const healthcheckHelp = `Reports for monitoring whether the queue is healthy. The exit code is 0 if it is, 1 if not, and 2 for an error in the
command line. It checks the queue, not a single worker: a probe that restarts a worker should use /livez, see gw-run
--http. The checks are:
  database  it answers
  schema    the queue is installed, and its schema is at least as new as this program
  doctor    gw-run doctor has no critical finding, such as jobs that have been due for minutes without any worker
  age       the oldest ready job has been due for no longer than --max-age, if that is given: are there enough workers?
  workers   at least --workers registered workers were seen in the last five minutes, if that is given

All checks together take no longer than --timeout.`

const healthcheckExamples = `  gw-run healthcheck
  gw-run healthcheck --max-age 5m --workers 1
  gw-run healthcheck --json | jq -r 'select(.is_healthy | not) | .detail'`

// healthcheck is a run of gw-run healthcheck.
type healthcheck struct {
	cli.Printing
	maxAge, timeout time.Duration
	workers         int64
	out             io.Writer
	sick            int
}

func newHealthcheckCommand(env cli.Env) *cobra.Command {
	h := &healthcheck{}
	cmd := &cobra.Command{
		Use:     "healthcheck",
		Short:   "Check whether the queue is healthy",
		Long:    healthcheckHelp,
		Example: healthcheckExamples,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if h.maxAge < 0 || h.workers < 0 || h.timeout <= 0 {
				return cli.Usagef("--max-age and --workers must not be negative, and --timeout must be positive")
			}
			if err := h.Complete(env.Getenv); err != nil {
				return err
			}
			h.out = cmd.OutOrStdout()
			ctx, cancel := context.WithTimeout(cmd.Context(), h.timeout)
			defer cancel()
			if err := h.run(ctx); err != nil {
				return err
			}
			if h.sick > 0 {
				return errors.New("not healthy")
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.DurationVar(&h.maxAge, "max-age", 0, "maximum `time` that a ready job may have been due (default: any)")
	flags.Int64Var(&h.workers, "workers", 0, "minimum `number` of registered workers")
	flags.DurationVar(&h.timeout, "timeout", 5*time.Second, "maximum `time` for all checks together")
	h.AddFlags(cmd, env.Getenv)
	return cmd
}

// run runs the checks in order. It stops at the first failed check that the following ones depend on.
func (h *healthcheck) run(ctx context.Context) error {
	db, err := h.Open(ctx)
	if err != nil {
		return h.say("database", err, "")
	}
	defer db.Close()
	if err := h.say("database", nil, "it answers"); err != nil {
		return err
	}
	version, sick := h.schemaVersion(ctx, db)
	if err := h.say("schema", sick, version); err != nil || sick != nil {
		return err
	}
	detail, sick := h.critical(ctx, db)
	if err := h.say("doctor", sick, detail); err != nil {
		return err
	}
	if h.maxAge == 0 && h.workers == 0 {
		return nil
	}
	stats, err := readStats(ctx, db, nil)
	if err != nil {
		return h.say("age", err, "")
	}
	if h.maxAge > 0 {
		oldest := time.Duration(0)
		if stats.OldestReady != nil {
			oldest = seconds.Duration(*stats.OldestReady).Truncate(time.Second)
		}
		detail, sick := fmt.Sprintf("the oldest ready job has been due for %s", oldest), error(nil)
		if oldest > h.maxAge {
			sick = fmt.Errorf("%s, longer than %s", detail, h.maxAge)
		}
		if err := h.say("age", sick, detail); err != nil {
			return err
		}
	}
	if h.workers > 0 {
		detail, sick := fmt.Sprintf("registered and seen: %d", stats.Workers), error(nil)
		if stats.Workers < h.workers {
			sick = fmt.Errorf("%s, fewer than %d", detail, h.workers)
		}
		return h.say("workers", sick, detail)
	}
	return nil
}

// schemaVersion returns the installed version as text, and an error if this program cannot use it.
func (h *healthcheck) schemaVersion(ctx context.Context, db *cli.Session) (string, error) {
	migrator, err := migrate.New(db.Config, migrate.Config{Schema: h.Schema})
	if err != nil {
		return "", err
	}
	status, err := migrator.Status(ctx)
	switch {
	case err != nil:
		return "", err
	case status.State == migrate.Newer && status.Refusal != nil:
		return "", status.Refusal
	case status.State == migrate.Current, status.State == migrate.Newer:
		return fmt.Sprintf("version %d", status.Installed), nil
	case status.State == migrate.Absent, status.State == migrate.Empty:
		return "", fmt.Errorf("schema %q is %s; gw-migrate installs the queue", h.Schema, status.State)
	case status.State == migrate.Behind:
		return "", fmt.Errorf("version %d, this program is for %d; gw-migrate upgrades it", status.Installed, status.Available)
	default:
		return "", fmt.Errorf("schema %q is %s; gw-migrate status shows details", h.Schema, status.State)
	}
}

// critical returns an error if doctor() has a critical finding.
func (h *healthcheck) critical(ctx context.Context, db *cli.Session) (string, error) {
	findings, _, err := cli.Rows[inspect.Finding](db.Ask(ctx, `select d.* from S.doctor() as d where d.severity operator(pg_catalog.=) 'critical'`))
	if err != nil {
		return "", err
	}
	if len(findings) > 0 {
		return "", fmt.Errorf("%s: %s: %s gw-run doctor says what to do", findings[0].Finding, terminal.Printable(findings[0].Subject),
			terminal.Printable(findings[0].Detail))
	}
	return "nothing critical", nil
}

// say prints the result of a check, which failed if sick is not nil.
func (h *healthcheck) say(check string, sick error, detail string) (err error) {
	if sick != nil {
		h.sick++
		detail = hint.For(sick).Error()
	}
	if h.JSON {
		return json.NewEncoder(h.out).Encode(struct {
			Check     string `json:"check"`
			IsHealthy bool   `json:"is_healthy"`
			Detail    string `json:"detail"`
		}{check, sick == nil, detail})
	}
	word := "ok"
	if sick != nil {
		word = "FAIL"
	}
	_, err = fmt.Fprintf(h.out, "%-4s  %-8s  %s\n", word, check, detail)
	return err
}
