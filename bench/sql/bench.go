package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

const exitUsage = 2

// options are what the flags say.
type options struct {
	scenarios *regexp.Regexp
	rounds    int
	quick     bool
	node      bool
	report    string
	binDirs   []string
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("sql", flag.ContinueOnError)
	flags.SetOutput(stderr)
	pattern := flags.String("run", "", "run the scenarios whose names match this regular expression")
	flags.IntVar(&o.rounds, "rounds", 5, "measure so many times, the contenders taking turns")
	flags.BoolVar(&o.quick, "quick", false, "measure little, to try it out: the figures mean nothing")
	flags.BoolVar(&o.node, "node", true, "measure Node's Graphile Worker, too")
	flags.StringVar(&o.report, "report", "", "write the report into this file as well")
	flags.Func("pg-bin", "folder with initdb and postgres, may be repeated (default: looked for)", func(dir string) error {
		o.binDirs = append(o.binDirs, dir)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	var err error
	o.scenarios, err = regexp.Compile(*pattern)
	switch {
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %s", flags.Arg(0))
	case o.rounds < 1:
		err = errors.New("-rounds: at least 1")
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return options{}, err
	}
	if len(o.binDirs) == 0 {
		o.binDirs = []string{""}
	}
	return o, nil
}

// A scenario measures one thing and reports it.
type scenario struct {
	name  string
	title string
	run   func(context.Context, *bench) error
}

// scenarios are all there are, in the order of the report.
var scenarios = []scenario{
	{"claim", "Claim and complete", claimScenario},
	{"ugly", "Claims from ugly tables", uglyScenario},
	{"held", "Work beside a held snapshot", heldScenario},
	{"burst", "A burst into an empty queue", burstScenario},
	{"serial", "Named queues", serialScenario},
	{"enqueue", "Enqueue from one client", enqueueScenario},
	{"clients", "Enqueue from many clients", clientsScenario},
	{"wal", "WAL of a job", walScenario},
	{"indexes", "The price of each index", indexesScenario},
}

// A bench is what a scenario works with: one server and the contenders on it.
type bench struct {
	options
	*server
	*report
	node     contender // without a name if it is left out
	progress io.Writer
}

// contenders returns those that a scenario compares, without Node if it is left out.
func (b *bench) contenders(wanted ...contender) []contender {
	if b.node.name != "" {
		wanted = append(wanted, b.node)
	}
	return wanted
}

// scale returns n, or a part of it for a quick run.
func (b *bench) scale(n int) int {
	if b.quick {
		return max(n/20, 1)
	}
	return n
}

// turns returns the order of contenders in a round: there and back, so that none always follows the same one.
func turns[T any](round int, all []T) []T {
	if round%2 == 0 {
		return all
	}
	var back []T
	for i := range all {
		back = append(back, all[len(all)-1-i])
	}
	return back
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	o, err := parseOptions(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return exitUsage
	}
	out := stdout
	if o.report != "" {
		file, err := os.Create(o.report)
		if err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
		defer func() {
			if err := file.Close(); err != nil {
				fmt.Fprintln(stderr, err)
				code = 1
			}
		}()
		out = io.MultiWriter(stdout, file)
	}
	r := &report{out: out}
	r.heading(1, "SQL benchmark")
	r.note("%s, %d processors (%s), %s. %d rounds%s. Cells are medians of the rounds, with their range; a ratio is the median of "+
		"the ratios within each round.", time.Now().Format("2006-01-02 15:04"), runtime.NumCPU(), processor(),
		runtime.Version(), o.rounds, map[bool]string{true: ", quick: the figures mean nothing"}[o.quick])
	for _, dir := range o.binDirs {
		err = errors.Join(err, runServer(ctx, o, r, dir, stderr))
	}
	if err = errors.Join(err, r.err); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// runServer runs the scenarios on one server. One that fails says so in the report and does not stop the next.
func runServer(ctx context.Context, o options, r *report, binDir string, progress io.Writer) (err error) {
	s, err := startServer(ctx, binDir, o.quick)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop(context.WithoutCancel(ctx))) }()
	b := &bench{options: o, server: s, report: r, progress: progress}
	if err := b.describeServer(ctx); err != nil {
		return err
	}
	if o.node {
		if err := installNode(ctx, s); err != nil {
			return err
		}
		recorded, err := recordNode(ctx, s)
		if err != nil {
			return err
		}
		b.node = node(recorded)
	}
	for _, sc := range scenarios {
		if !o.scenarios.MatchString(sc.name) {
			continue
		}
		start := time.Now()
		r.heading(2, fmt.Sprintf("%s: %s, PostgreSQL %s", sc.name, sc.title, s.version))
		if scErr := sc.run(ctx, b); scErr != nil {
			r.note("Failed: %v", scErr)
			err = errors.Join(err, fmt.Errorf("%s: %w", sc.name, scErr))
		}
		fmt.Fprintf(progress, "%s on PostgreSQL %s took %s\n", sc.name, s.version, time.Since(start).Round(time.Second))
		if ctx.Err() != nil {
			break
		}
	}
	return err
}

// describeServer reports the settings that were chosen, as the server has them.
func (b *bench) describeServer(ctx context.Context) error {
	var chosen []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		var value string
		if err := b.admin.QueryRow(ctx, "select current_setting($1)", name).Scan(&value); err != nil {
			return fmt.Errorf("ask for the settings: %w", err)
		}
		chosen = append(chosen, name+" "+value)
	}
	b.note("PostgreSQL %s, private, reached by a socket: %s; else as it comes.", b.version, strings.Join(chosen, ", "))
	return nil
}

// processor names the processor, where the system says.
func processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for line := range strings.Lines(string(info)) {
			if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return runtime.GOARCH
}
