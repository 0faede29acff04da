package jobs

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
)

const addHelp = `Adds a job and prints its id. The payload is JSON: as an argument, from a @file, or from stdin as -; the default is
{}.

If a job is waiting under the key, --key-mode decides:
  replace          replaces all its values, its run_at included (default)
  preserve_run_at  replaces all its values except the run_at of a job that was not tried yet
  unsafe_dedupe    changes nothing, even if the job under the key is running or has failed

Or, under the key, one of these:
  --once       adds nothing if a call has added a job within this time, even if that job has ended
  --debounce   runs the job when no call has come for this time, but at most --max-wait after the first call
  --throttle   runs at most one job in this time; calls in between share the next job

A time is any text that PostgreSQL accepts, in UTC if it has no time zone: '2026-12-24 18:00+01', tomorrow.
With --json the job is printed as an object, with the column names of list_jobs(), or of add_job_once() and its like.`

const addExamples = `  gw-run add send_email '{"to": "you@example.com"}'
  gw-run add import @rows.json --queue imports --max-attempts 3
  pg_dump --schema-only app | jq -Rs . | gw-run add archive - --in 10m
  gw-run add sync '{"user": 42}' --key user:42 --key-mode preserve_run_at
  gw-run add charge '{"order": 17}' --key charge:17 --once 1d
  gw-run add index '{"document": 5}' --key index:5 --debounce 5s --max-wait 1m`

func newAddCommand(env cli.Env) *cobra.Command {
	a := &add{}
	cmd := &cobra.Command{
		Use:     "add TASK [PAYLOAD|@FILE|-]",
		Short:   "Add a job",
		Long:    addHelp,
		Example: addExamples,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) < 1 || len(args) > 2:
				return cli.Usagef("add takes a task and a payload, not %d arguments", len(args))
			case args[0] == "":
				return cli.Usagef("the task name is empty")
			case a.runAt != "" && a.in != "":
				return cli.Usagef("--run-at and --in exclude each other")
			case a.keyMode != "" && a.key == "":
				return cli.Usagef("--key-mode requires --key")
			case a.key == "" && cmd.Flags().Changed("key"):
				return cli.Usagef("the key is empty; without --key the job has none")
			}
			if err := a.keyed.check(a); err != nil {
				return err
			}
			if err := a.Complete(env.Getenv); err != nil {
				return err
			}
			a.isGiven = cmd.Flags().Changed
			return a.run(cmd, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&a.queue, "queue", "q", "", "named `queue`; its jobs run one at a time")
	flags.StringVar(&a.runAt, "run-at", "", "`time` to run at, not before (default now)")
	flags.Var(&a.in, "in", "`time` from now to run at, such as 90s or 2h")
	flags.IntVar(&a.maxAttempts, "max-attempts", 0, "maximum `number` of attempts before the job fails permanently (default 25)")
	flags.StringVarP(&a.key, "key", "k", "", "`key` of the job; a waiting job with this key is replaced")
	flags.StringVar(&a.keyMode, "key-mode", "", "replace, preserve_run_at or unsafe_dedupe (`mode`)")
	a.keyed.addFlags(flags)
	flags.IntVarP(&a.priority, "priority", "p", 0, "`number`; lower runs first")
	flags.StringArrayVar(&a.flags, "flag", nil, "`flag` of the job, by which workers can skip it; may be repeated")
	flags.BoolVar(&a.json, "json", false, "print the job as a JSON object")
	a.Database.AddFlags(flags, env.Getenv)
	flags.SortFlags = false
	cli.CompleteWords(cmd, "key-mode", "replace", "preserve_run_at", "unsafe_dedupe")
	return cmd
}

func (a *add) run(cmd *cobra.Command, args []string) error {
	payload := any(nil)
	if len(args) == 2 {
		text, err := readPayload(args[1], cmd.InOrStdin())
		if err != nil {
			return err
		}
		payload = text
	}
	ctx := cmd.Context()
	db, err := a.Open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	call := a.call
	if a.keyed.isGiven() {
		call = a.callByKey
	}
	found, err := call(ctx, db, args[0], payload)
	if err != nil {
		return fmt.Errorf("add job: %w", err)
	}
	defer warnOfTask(ctx, db, args[0], cmd.ErrOrStderr())
	if a.keyed.isGiven() {
		return cli.PrintLines(cmd.OutOrStdout(), found, a.json, a.keyed.describe)
	}
	return cli.PrintLines(cmd.OutOrStdout(), found, a.json, a.describe)
}

// readPayload returns the payload: the argument itself, the content of a @file, or stdin for -.
func readPayload(arg string, stdin io.Reader) (string, error) {
	text, source := []byte(arg), "the payload"
	var err error
	if path, isFile := strings.CutPrefix(arg, "@"); isFile {
		text, err = os.ReadFile(path)
		source = path
	} else if arg == "-" {
		text, err = io.ReadAll(stdin)
		source = "stdin"
	}
	if err != nil {
		return "", fmt.Errorf("read payload: %w", err)
	}
	if !json.Valid(text) {
		var value any
		return "", cli.Usagef("%s is not JSON: %w", source, json.Unmarshal(text, &value))
	}
	return string(text), nil
}
