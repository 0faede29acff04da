package harness

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Options are the values of the flags.
type Options struct {
	Rounds int    // number of rounds
	Quick  bool   // short measurements
	Node   bool   // measure Node's Graphile Worker, too
	Report string // the file for the report; empty for none

	scenarios *regexp.Regexp
	binDirs   []string
}

// Scale returns n, or less for a quick run.
func (o Options) Scale(n int) int {
	if o.Quick {
		return max(n/20, 1)
	}
	return n
}

// parseOptions reads the flags. More adds those of a program.
func parseOptions(program string, more func(*flag.FlagSet), args []string, stderr io.Writer) (Options, error) {
	var o Options
	flags := flag.NewFlagSet(program, flag.ContinueOnError)
	flags.SetOutput(stderr)
	pattern := flags.String("run", "", "run the scenarios whose names match this regular expression")
	flags.IntVar(&o.Rounds, "rounds", 5, "measure so many times, the contenders taking turns")
	flags.BoolVar(&o.Quick, "quick", false, "measure little, to try it out: the figures mean nothing")
	flags.BoolVar(&o.Node, "node", true, "measure Node's Graphile Worker, too")
	flags.StringVar(&o.Report, "report", "", "write the report into this file as well")
	flags.Func("pg-bin", "folder with initdb and postgres, may be repeated (default: looked for)",
		func(dir string) error {
			o.binDirs = append(o.binDirs, dir)
			return nil
		})
	if more != nil {
		more(flags)
	}
	if err := flags.Parse(args); err != nil {
		return Options{}, err
	}
	var err error
	o.scenarios, err = regexp.Compile(*pattern)
	switch {
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %s", flags.Arg(0))
	case o.Rounds < 1:
		err = errors.New("-rounds: at least 1")
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return Options{}, err
	}
	if len(o.binDirs) == 0 {
		o.binDirs = []string{""}
	}
	return o, nil
}

// plain matches words that need no quotes in a shell.
var plain = regexp.MustCompile(`^[\w./=-]+$`)

// repeatable returns flags as they are typed, without paths of this machine.
func repeatable(args []string) string {
	var line strings.Builder
	for i, arg := range args {
		switch {
		case i > 0 && strings.TrimLeft(args[i-1], "-") == "pg-bin":
			arg = "DIR"
		case strings.HasPrefix(strings.TrimLeft(arg, "-"), "pg-bin="):
			arg = "-pg-bin=DIR"
		case !plain.MatchString(arg):
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		line.WriteString(" " + arg)
	}
	return line.String()
}
