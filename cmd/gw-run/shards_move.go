package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/reshard"
	"github.com/gwsql/gw/internal/stop"
	"github.com/gwsql/gw/internal/terminal"
	"github.com/gwsql/gw/pkg/shard"
)

const shardsMoveHelp = `Moves slots to a shard, with their jobs, while producers and workers continue. Slots are moved eight at a time. While
the jobs of a slot are moved, producers of this slot wait, and none of its jobs starts. Jobs that run are waited for, for
--wait; a slot whose job does not end in that time stays where it is, and the exit code is 1.

A slot is in one shard at any time, and its jobs stay in order. If the command is interrupted, run it again, or gw-run shards
resume: each job is moved once.

Afterwards write the new slots into the map. Programs with the old one continue to work: the shards tell them.`

const shardsMoveExamples = `  gw-run shards move 128-191 c
  gw-run shards move 7,9 b --wait 10m --shards map.yaml`

const shardsDrainHelp = `Moves all slots of a shard to the other shards, to those with the fewest slots, and then its jobs without a queue and a
key. Jobs that run are waited for, for --wait. A shard without slots gets no new jobs; when it has no jobs either, remove it
from the map.`

const shardsDrainExamples = `  gw-run shards drain a
  gw-run shards drain a --wait 1h`

const shardsResumeHelp = `Completes moves of slots that were interrupted. Workers of gw-run --shards do this, too, a minute after the interruption.`

// moving is a run of a command that moves slots.
type moving struct {
	shardsFlags
	wait time.Duration
}

func (m *moving) command(cmd *cobra.Command, getenv func(string) string, stops *stop.Reasons,
	run func(ctx context.Context, of *shard.Map, mover *reshard.Mover, args []string) (reshard.Moved, error),
) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		of, err := m.read(getenv)
		if err != nil {
			return err
		}
		if m.wait < 0 {
			return usageError{fmt.Errorf("--wait is %s, must not be negative", m.wait)}
		}
		ctx, _, release := stops.Begin(cmd.Context(), stop.Hangup()...)
		defer release()
		databases, closeAll, err := m.connect(ctx, of)
		if err != nil {
			return stop.Explain(ctx, err)
		}
		defer closeAll()
		mover := &reshard.Mover{Databases: databases, Wait: m.wait, Logger: slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))}
		moved, err := run(ctx, of, mover, args)
		if err != nil {
			return stop.Explain(ctx, fmt.Errorf("%w; gw-run shards resume completes what was begun", err))
		}
		return m.report(cmd, moved)
	}
	m.addFlags(cmd.Flags(), getenv)
	cmd.Flags().DurationVar(&m.wait, "wait", busyFor, "`time` to wait for running jobs of a slot")
	cmd.Flags().SortFlags = false
	return cmd
}

// report prints what was moved, and returns an error if slots were left.
func (m *moving) report(cmd *cobra.Command, moved reshard.Moved) error {
	if m.json {
		if err := json.NewEncoder(cmd.OutOrStdout()).Encode(moved); err != nil {
			return err
		}
	} else if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s moved, with %s.\n", plural(moved.Slots, "slot"), plural(int(moved.Jobs), "job")); err != nil {
		return err
	}
	var busy []string
	for _, b := range moved.Busy {
		by := ""
		if b.Worker != nil {
			by = " by " + terminal.Printable(*b.Worker)
		}
		busy = append(busy, fmt.Sprintf("slot %d stays in shard %s: job %s:%d is being run%s", b.Slot, b.Shard, b.Shard, b.Job, by))
	}
	if busy != nil {
		return errors.New(strings.Join(busy, "\n") + "\nRun the command again, with a longer --wait.")
	}
	return nil
}

func newShardsMoveCommand(getenv func(string) string, stops *stop.Reasons) *cobra.Command {
	m := &moving{}
	return m.command(&cobra.Command{
		Use: "move SLOTS SHARD", Short: "Move slots to a shard, with their jobs", Long: shardsMoveHelp, Example: shardsMoveExamples,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageError{errors.New("which slots, and where to? For example: gw-run shards move 128-191 c")}
			}
			if _, err := shard.ParseSlots(args[0]); err != nil {
				return usageError{err}
			}
			return nil
		},
	}, getenv, stops, func(ctx context.Context, of *shard.Map, mover *reshard.Mover, args []string) (reshard.Moved, error) {
		slots, err := shard.ParseSlots(args[0])
		if err == nil {
			err = checkShard(of, args[1])
		}
		if err != nil {
			return reshard.Moved{}, err
		}
		return mover.Move(ctx, slots.List(), args[1])
	})
}

func newShardsDrainCommand(getenv func(string) string, stops *stop.Reasons) *cobra.Command {
	m := &moving{}
	return m.command(&cobra.Command{
		Use: "drain SHARD", Short: "Move all slots of a shard to the others", Long: shardsDrainHelp, Example: shardsDrainExamples,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New("which shard? For example: gw-run shards drain a")}
			}
			return nil
		},
	}, getenv, stops, func(ctx context.Context, of *shard.Map, mover *reshard.Mover, args []string) (reshard.Moved, error) {
		if err := checkShard(of, args[0]); err != nil {
			return reshard.Moved{}, err
		}
		if len(of.Shards) == 1 {
			return reshard.Moved{}, usageError{errors.New("there is no other shard")}
		}
		return mover.Drain(ctx, args[0])
	})
}

func newShardsResumeCommand(getenv func(string) string, stops *stop.Reasons) *cobra.Command {
	m := &moving{}
	return m.command(&cobra.Command{
		Use: "resume", Short: "Complete interrupted moves of slots", Long: shardsResumeHelp, Example: "  gw-run shards resume --shards map.yaml",
		Args: noArguments,
	}, getenv, stops, func(ctx context.Context, _ *shard.Map, mover *reshard.Mover, _ []string) (reshard.Moved, error) {
		return mover.Resume(ctx, 0)
	})
}

func checkShard(of *shard.Map, name string) error {
	if _, ok := of.Find(name); !ok {
		return usageError{fmt.Errorf("there is no shard %s; the map has %s", name, strings.Join(of.Names(), ", "))}
	}
	return nil
}
