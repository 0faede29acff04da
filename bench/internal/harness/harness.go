// Package harness contains the common parts of the benchmarks: flags, servers, rounds and the report.
package harness

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/server"
)

// ExitUsage is the exit code after wrong flags.
const ExitUsage = 2

// A Bench is the environment of scenarios on one server.
type Bench struct {
	Options
	*server.Server
	*report.Report
	Title    string // of the scenario that runs
	Progress io.Writer
}

// A Scenario measures and reports one result. B is the program's own environment.
type Scenario[B any] struct {
	Name  string
	Title string
	Run   func(context.Context, B) error
}

// A Program is a benchmark.
type Program[B any] struct {
	Name  string
	Title string

	// Flags adds flags of the program. Default: none.
	Flags func(*flag.FlagSet)

	// Settings are settings of the server that differ from PostgreSQL's defaults, other than max_connections. Default:
	// none.
	Settings map[string]string

	// Open prepares a server.
	Open func(context.Context, *Bench) (B, error)

	// Scenarios are all scenarios, in the order of the report.
	Scenarios []Scenario[B]

	// Close writes what the file contains in place of the reports of the scenarios, and what follows them on stdout.
	// Default: the file contains the reports of the scenarios.
	Close func(*report.Report, Options) error
}

// Run runs the program on each server and returns its exit code.
func (p Program[B]) Run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	o, err := parseOptions(p.Name, p.Flags, args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return ExitUsage
	}
	if !slices.ContainsFunc(p.Scenarios, func(sc Scenario[B]) bool { return o.scenarios.MatchString(sc.Name) }) {
		fmt.Fprintln(stderr, "-run: no scenario has such a name")
		return ExitUsage
	}
	doc := document{stdout: stdout}
	if o.Report != "" {
		if doc.file, err = os.Create(o.Report); err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
		defer func() {
			if err := doc.write(); err != nil {
				fmt.Fprintln(stderr, err)
				code = 1
			}
		}()
	}
	r := report.New(&doc)
	r.Heading(1, p.Title)
	r.Note("%s, %d processors (%s), %s. %d rounds%s. Figures are medians of the rounds; a range follows if a round differs by "+
		"more than a tenth. A ratio is the median of the ratios within each round.",
		time.Now().Format("2006-01-02 15:04"),
		runtime.NumCPU(), processor(), runtime.Version(), o.Rounds,
		map[bool]string{true: ", quick: the figures are not meaningful"}[o.Quick])
	r.Note("To repeat, run in the folder bench: `go run ./%s%s`", p.Name, repeatable(args))
	for _, dir := range o.binDirs {
		err = errors.Join(err, p.runServer(ctx, o, r, dir, &doc, stderr))
	}
	if p.Close != nil {
		doc.part, doc.closed = inSummary, true
		err = errors.Join(err, p.Close(r, o))
	}
	if err = errors.Join(err, r.Err()); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// runServer runs the scenarios on one server. A failed scenario is reported and does not stop the next ones.
func (p Program[B]) runServer(
	ctx context.Context, o Options, r *report.Report, binDir string, doc *document, progress io.Writer,
) (err error) {
	s, err := server.Start(ctx, binDir, p.Settings, o.Quick)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop(context.WithoutCancel(ctx))) }()
	settings, err := s.Settings(ctx)
	if err != nil {
		return err
	}
	doc.part = inHead
	r.Note("PostgreSQL %s, a private server on a Unix socket: %s; other settings are the defaults.", s.Version,
		settings)
	doc.part = inBody
	h := &Bench{Options: o, Server: s, Report: r, Progress: progress}
	b, err := p.Open(ctx, h)
	if err != nil {
		return err
	}
	for _, sc := range p.Scenarios {
		if !o.scenarios.MatchString(sc.Name) {
			continue
		}
		start := time.Now()
		h.Title = sc.Title
		r.Heading(2, fmt.Sprintf("%s: %s, PostgreSQL %s", sc.Name, sc.Title, s.Version))
		if scErr := sc.Run(ctx, b); scErr != nil {
			r.Note("Failed: %v", scErr)
			err = errors.Join(err, fmt.Errorf("%s: %w", sc.Name, scErr))
		}
		fmt.Fprintf(progress, "%s on PostgreSQL %s took %s\n", sc.Name, s.Version, time.Since(start).Round(time.Second))
		if ctx.Err() != nil {
			break
		}
	}
	return err
}

// Turns returns the order of contenders in a round: alternately forwards and backwards, so that none always follows the
// same one.
func Turns[T any](round int, all []T) []T {
	if round%2 == 0 {
		return all
	}
	var back []T
	for i := range all {
		back = append(back, all[len(all)-1-i])
	}
	return back
}

// processor returns the name of the processor, if the system provides it.
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
