package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/reshard"
	"github.com/gwsql/gw/internal/serve"
	"github.com/gwsql/gw/internal/stop"
	"github.com/gwsql/gw/internal/terminal"
	"github.com/gwsql/gw/pkg/shard"
)

const shardsHelp = `Prints the shards with their slots, according to the databases themselves, and where the map differs from that. A slot
that is being moved is in the shard that it leaves; producers of its jobs wait. A move whose mover was killed is completed
by the workers of gw-run --shards after a minute, or by gw-run shards resume at once.`

const shardsExamples = `  gw-run shards --shards map.yaml
  gw-run shards move 128-191 c
  gw-run shards drain a`

// shardsFlags are the flags by which a command finds the map of shards.
type shardsFlags struct {
	path, config, schema string
	json                 bool
}

func (s *shardsFlags) addFlags(flags *pflag.FlagSet, getenv func(string) string) {
	flags.StringVar(&s.path, "shards", "", "`file` of shards (default: shards of the config file)")
	flags.StringVar(&s.config, "config", "gw.yaml", "config `file`")
	flags.StringVarP(&s.schema, "schema", "s", connection.Schema(getenv), "`schema` of the queue")
	flags.BoolVar(&s.json, "json", false, "print one JSON object per line")
}

// read reads the map.
func (s *shardsFlags) read(getenv func(string) string) (*shard.Map, error) {
	if s.path != "" {
		return config.LoadShards(s.path, getenv)
	}
	file, err := serve.ConfigFile{Path: s.config, Optional: true, Getenv: getenv}.Read()
	if err != nil {
		return nil, err
	}
	if file.Shards == nil {
		return nil, usageError{fmt.Errorf("which shards? Give their file with --shards, or add shards to %s", s.config)}
	}
	return file.Shards, nil
}

// connect connects to all shards. close closes the connections.
func (s *shardsFlags) connect(ctx context.Context, m *shard.Map) (databases []*reshard.Database, closeAll func(), err error) {
	closeAll = func() {
		for _, d := range databases {
			d.Close()
		}
	}
	for _, of := range m.Shards {
		d, err := reshard.Connect(ctx, of, s.schema)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		databases = append(databases, d)
	}
	return databases, closeAll, nil
}

func newShardsCommand(getenv func(string) string, stops *stop.Reasons) *cobra.Command {
	s := &shardsFlags{}
	cmd := &cobra.Command{
		Use: "shards", Short: "List shards, and move slots between them", Long: shardsHelp, Example: shardsExamples,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := s.read(getenv)
			if err != nil {
				return err
			}
			ctx, _, release := stops.Begin(cmd.Context(), stop.Hangup()...)
			defer release()
			return stop.Explain(ctx, s.list(ctx, m, cmd.OutOrStdout(), cmd.ErrOrStderr()))
		},
	}
	s.addFlags(cmd.Flags(), getenv)
	cmd.AddCommand(newShardsMoveCommand(getenv, stops), newShardsDrainCommand(getenv, stops), newShardsResumeCommand(getenv, stops))
	return cmd
}

// shardRow is a shard in the list.
type shardRow struct {
	Shard    string `json:"shard"`
	State    string `json:"state"` // up, or why not
	Slots    string `json:"slots"`
	Leaving  string `json:"leaving,omitempty"`
	Arriving string `json:"arriving,omitempty"`
	Transit  int64  `json:"jobs_in_transit"`
	Jobs     *int64 `json:"jobs"`
	Homes    *int64 `json:"homes"`
	InMap    string `json:"slots_in_map"`
}

func (s *shardsFlags) list(ctx context.Context, m *shard.Map, out, notes io.Writer) error {
	rows := make([]shardRow, len(m.Shards))
	states := make(map[string][]reshard.State)
	var problems []error
	for i, of := range m.Shards {
		rows[i] = shardRow{Shard: of.Name, State: "up", InMap: of.Slots.String()}
		err := s.look(ctx, of, &rows[i], states)
		if err != nil {
			rows[i].State = "away"
			problems = append(problems, err)
		}
	}
	placed := reshard.Place(states)
	for i, of := range m.Shards {
		rows[i].Slots = placed.Of(of.Name).String()
		var leaving, arriving shard.Slots
		for _, moving := range placed.Moving {
			if moving.Source == of.Name {
				leaving.Add(moving.Slot)
				rows[i].Transit += moving.InMotion
			}
			if moving.Target == of.Name {
				arriving.Add(moving.Slot)
			}
		}
		rows[i].Leaving, rows[i].Arriving = noneIsEmpty(leaving), noneIsEmpty(arriving)
	}
	if err := s.print(out, rows); err != nil {
		return err
	}
	for _, row := range rows {
		if row.State == "up" && row.Slots != row.InMap {
			fmt.Fprintf(notes, "The map gives shard %s the slots %s; correct the map, or move slots.\n", row.Shard, row.InMap)
		}
	}
	return errors.Join(problems...)
}

func noneIsEmpty(slots shard.Slots) string {
	if slots.Len() == 0 {
		return ""
	}
	return slots.String()
}

// look asks one shard.
func (s *shardsFlags) look(ctx context.Context, of shard.Shard, row *shardRow, states map[string][]reshard.State) error {
	d, err := reshard.Connect(ctx, of, s.schema)
	if err != nil {
		return err
	}
	defer d.Close()
	if states[of.Name], err = d.States(ctx); err != nil {
		return err
	}
	homes, jobs, err := d.Load(ctx)
	row.Homes, row.Jobs = &homes, &jobs
	return err
}

func (s *shardsFlags) print(out io.Writer, rows []shardRow) error {
	if s.json {
		for _, row := range rows {
			if err := json.NewEncoder(out).Encode(row); err != nil {
				return err
			}
		}
		return nil
	}
	number := func(n *int64) string {
		if n == nil {
			return ""
		}
		return fmt.Sprint(*n)
	}
	return terminal.Table(out, []terminal.Column[shardRow]{
		{Title: "SHARD", Cell: func(r shardRow) string { return r.Shard }},
		{Title: "STATE", Cell: func(r shardRow) string { return r.State }},
		{Title: "JOBS", Numbers: true, Cell: func(r shardRow) string { return number(r.Jobs) }},
		{Title: "HOMES", Numbers: true, Cell: func(r shardRow) string { return number(r.Homes) }},
		{Title: "SLOTS", Cell: func(r shardRow) string { return r.Slots }},
		{Title: "LEAVING", Cell: func(r shardRow) string { return r.Leaving }},
		{Title: "ARRIVING", Cell: func(r shardRow) string { return r.Arriving }},
		{Title: "IN TRANSIT", Numbers: true, Cell: func(r shardRow) string { return fmt.Sprint(r.Transit) }},
	}, rows)
}

// busyFor is how long to wait for running jobs by default.
const busyFor = 10 * time.Second
