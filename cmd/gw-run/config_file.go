package main

import (
	"errors"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/serve"
)

// findConfig returns where the config is: in the file that was given, or else in one beside the folder of tasks.
func (o *options) findConfig(getenv func(string) string) serve.ConfigFile {
	if o.configPath != "" {
		return serve.ConfigFile{Path: o.configPath, Getenv: getenv}
	}
	return serve.ConfigFile{Path: o.besideTasks("gw.yaml"), Optional: true, Getenv: getenv}
}

// findCrontab returns where the recurring jobs are: in the file that was given, or else in one beside the folder of tasks.
func (o *options) findCrontab() serve.CrontabFile {
	if o.crontab != "" {
		return serve.CrontabFile{Path: o.crontab}
	}
	return serve.CrontabFile{Path: o.besideTasks("crontab"), Optional: true}
}

// besideTasks returns the path of a file beside the folder of tasks.
func (o *options) besideTasks(name string) string {
	return filepath.Join(filepath.Dir(filepath.Clean(o.worker.Tasks.Path)), name)
}

// takeFile takes the settings of the config file that are not given otherwise.
func (o *options) takeFile(flags *pflag.FlagSet, given func(flag string) bool) error {
	o.fromFile = make(map[string]config.Setting)
	o.worker.Tasks.Optional = !flags.Changed("tasks")
	var problems []error
	for _, setting := range o.worker.File.Settings {
		flag := setting.Key.Flag
		if given(flag) {
			continue
		}
		o.fromFile[flag] = setting
		if err := flags.Lookup(flag).Value.Set(setting.Value); err != nil {
			problems = append(problems, config.Problem{Position: setting.Position, Message: setting.Key.Name + " " + err.Error()})
		}
		if flag == "tasks" {
			o.worker.Tasks.Optional = false
		}
	}
	return errors.Join(problems...)
}

// name returns what a setting is called where it comes from.
func (o *options) name(flag string) string {
	if setting, ok := o.fromFile[flag]; ok {
		return setting.Position.String() + ": " + setting.Key.Name
	}
	return "--" + flag
}

// connectionFrom finds a connection that a setting gives, or the environment.
func (o *options) connectionFrom(flag, given string, getenv func(string) string) (string, error) {
	setting, ok := o.fromFile[flag]
	if !ok {
		return connection.Find(given, "--"+flag, getenv)
	}
	found, err := connection.Find(given, setting.Key.Name, getenv)
	if err == nil {
		return found, nil
	}
	message := err.Error()
	if setting.Text.IsExpanded() { // the message has parts of the text
		message = setting.Key.Name + " with the values of its variables is neither a URL (postgres://user@host:port/database) nor a " +
			"list of key=value nor a database name"
	}
	return found, config.Problem{Position: setting.Position, Message: message}
}

// shown returns the value of a setting as it may be shown: as the config file has it if it is from there.
func (o *options) shown(flag, value string) string {
	if setting, ok := o.fromFile[flag]; ok {
		return setting.Text.Written
	}
	return value
}

// wrong returns an error that tells what is wrong with a setting, where it comes from.
func (o *options) wrong(flag, message string) error {
	if setting, ok := o.fromFile[flag]; ok {
		return config.Problem{Position: setting.Position, Message: setting.Key.Name + " " + message}
	}
	return errors.New("--" + flag + " " + message)
}
