package usage

import (
	"encoding/json"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Command describes a command, from which packaging/man makes its page.
type Command struct {
	Use, Short, Long, Example string
	Flags                     []Option
	Persistent                []Option // flags that the commands below it also have
	Commands                  []Command
}

// Option describes a flag.
type Option struct {
	Name, Shorthand, Meaning, Default string
	Argument                          string // the name of its value; empty for a switch
	IsOptional                        bool   // the value may be left out
}

// Tree returns a hidden command that prints as JSON what its root is made of.
func Tree() *cobra.Command {
	return &cobra.Command{
		Use: "__commands", Short: "Print a description of all commands as JSON", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(describe(cmd.Root()))
		},
	}
}

func describe(cmd *cobra.Command) Command {
	described := Command{
		Use: cmd.Use, Short: cmd.Short, Long: cmd.Long, Example: cmd.Example,
		Flags: options(cmd.LocalNonPersistentFlags()), Persistent: options(cmd.PersistentFlags()),
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			described.Commands = append(described.Commands, describe(sub))
		}
	}
	return described
}

func options(flags *pflag.FlagSet) (all []Option) {
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden || flag.Name == "help" {
			return
		}
		argument, meaning := pflag.UnquoteUsage(flag)
		o := Option{
			Name: flag.Name, Shorthand: flag.Shorthand, Meaning: meaning, Argument: argument,
			IsOptional: flag.NoOptDefVal != "" && argument != "",
		}
		if !slices.Contains([]string{"", "0", "0s", "false", "[]"}, flag.DefValue) {
			o.Default = flag.DefValue
		}
		all = append(all, o)
	})
	return all
}
