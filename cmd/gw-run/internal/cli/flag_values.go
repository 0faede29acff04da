package cli

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var errEmpty = errors.New("it is empty")

// Condition is the value of a flag that selects jobs. It must not be empty: an unset variable of a shell would otherwise
// select more jobs.
type Condition string

func (c *Condition) String() string { return string(*c) }
func (c *Condition) Type() string   { return "text" }

func (c *Condition) Set(text string) error {
	if text == "" {
		return errEmpty
	}
	*c = Condition(text)
	return nil
}

// Span is the value of a flag that takes a time with a unit, as PostgreSQL reads it.
type Span string

// bareNumber matches a number without a unit, which PostgreSQL reads as seconds and --poll-interval as milliseconds.
var bareNumber = regexp.MustCompile(`^-?[0-9.]+$`)

func (s *Span) String() string { return string(*s) }
func (s *Span) Type() string   { return "time" }

func (s *Span) Set(text string) error {
	switch {
	case text == "":
		return errEmpty
	case bareNumber.MatchString(text):
		return fmt.Errorf("it has no unit; write %ss, %[1]sm or %[1]sh", text)
	}
	*s = Span(text)
	return nil
}

// Given returns the value of a flag for a number, nil without the flag.
func Given(flags *pflag.FlagSet, name string, value int) any {
	if !flags.Changed(name) {
		return nil
	}
	return int64(value)
}

// CompleteWords registers the values that shells complete for a flag.
func CompleteWords(cmd *cobra.Command, flag string, words ...string) {
	Must(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)))
}

// Must panics if a flag does not exist, which is a bug in this program.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}
