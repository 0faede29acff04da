package main

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var errEmpty = errors.New("it is empty")

// condition is the value of a flag that selects jobs. It must not be empty: an unset variable of a shell would otherwise
// select more jobs.
type condition string

func (c *condition) String() string { return string(*c) }
func (c *condition) Type() string   { return "text" }

func (c *condition) Set(text string) error {
	if text == "" {
		return errEmpty
	}
	*c = condition(text)
	return nil
}

// span is the value of a flag that takes a time with a unit, as PostgreSQL reads it.
type span string

// bareNumber matches a number without a unit, which PostgreSQL reads as seconds and --poll-interval as milliseconds.
var bareNumber = regexp.MustCompile(`^-?[0-9.]+$`)

func (s *span) String() string { return string(*s) }
func (s *span) Type() string   { return "time" }

func (s *span) Set(text string) error {
	switch {
	case text == "":
		return errEmpty
	case bareNumber.MatchString(text):
		return fmt.Errorf("it has no unit; write %ss, %[1]sm or %[1]sh", text)
	}
	*s = span(text)
	return nil
}

// given returns the value of a flag for a number, nil without the flag.
func given(flags *pflag.FlagSet, name string, value int) any {
	if !flags.Changed(name) {
		return nil
	}
	return int64(value)
}

// completeWords registers the values that shells complete for a flag.
func completeWords(cmd *cobra.Command, flag string, words ...string) {
	must(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)))
}

// must panics if a flag does not exist, which is a bug in this program.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
