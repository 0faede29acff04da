// Command man writes the manual pages of gw-run and gw-migrate into a folder. It is a separate module, so that what it needs is
// not a dependency of the queue.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/gwsql/gw/internal/usage"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: man FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

// write writes a page for each command of the programs.
func write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, program := range []string{"gw-run", "gw-migrate"} {
		ask := exec.Command("go", "run", "./cmd/"+program, "__commands")
		ask.Dir, ask.Stderr = "../..", os.Stderr
		ask.Env = append(os.Environ(), "GRAPHILE_WORKER_SCHEMA=") // it would be shown as the default
		text, err := ask.Output()
		if err != nil {
			return fmt.Errorf("describe %s: %w", program, err)
		}
		var described usage.Command
		if err := json.Unmarshal(text, &described); err != nil {
			return fmt.Errorf("describe %s: %w", program, err)
		}
		if err := doc.GenManTree(command(described), &doc.GenManHeader{Source: "gw", Manual: "gw"}, folder); err != nil {
			return err
		}
	}
	return withoutEmptyValues(folder)
}

// withoutEmptyValues removes the = that [doc] writes after each flag from those without a value.
func withoutEmptyValues(folder string) error {
	pages, err := filepath.Glob(filepath.Join(folder, "*.1"))
	if err != nil {
		return err
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		if err := os.WriteFile(page, bytes.ReplaceAll(text, []byte("\\fP=\n"), []byte("\\fP\n")), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// command returns a command of which [doc] makes a page.
func command(described usage.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: described.Use, Short: described.Short, Long: markdown(described.Long), Example: described.Example,
		Run: func(*cobra.Command, []string) {}, DisableAutoGenTag: true,
	}
	addFlags(cmd.Flags(), append(described.Flags, usage.Option{Name: "help", Shorthand: "h", Meaning: "print this help"}))
	addFlags(cmd.PersistentFlags(), described.Persistent)
	for _, sub := range described.Commands {
		cmd.AddCommand(command(sub))
	}
	return cmd
}

// special matches what Markdown reads as more than text.
var special = regexp.MustCompile("[*_<>`\\[\\]\\\\]")

func escape(text string) string { return special.ReplaceAllString(text, `\$0`) }

// markdown returns a help as Markdown. Indented lines are shown as they are.
func markdown(help string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(help + "\n") {
		if indented := strings.HasPrefix(line, "  "); indented != fenced && line != "\n" {
			fenced = indented
			b.WriteString("\n```\n")
		}
		if !fenced {
			line = escape(line)
		}
		b.WriteString(line)
	}
	if fenced {
		b.WriteString("```\n")
	}
	return b.String()
}

// value is the value of a flag, whose default [doc] shows as --flag=DEFAULT.
type value string

func (v value) String() string   { return string(v) }
func (v value) Set(string) error { return nil }
func (v value) Type() string     { return "value" }

func addFlags(flags *pflag.FlagSet, options []usage.Option) {
	flags.SortFlags = false
	for _, o := range options {
		meaning := escape(o.Meaning)
		if o.Default != "" {
			meaning += " (default " + escape(o.Default) + ")"
		}
		flag := flags.VarPF(value(strings.ToUpper(o.Argument)), o.Name, o.Shorthand, meaning)
		if o.IsOptional {
			flag.NoOptDefVal = "optional"
		}
	}
}
