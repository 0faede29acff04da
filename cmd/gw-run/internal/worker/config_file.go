package worker

import (
	"errors"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/serve"
)

// findConfig returns the config file: the one that was given, otherwise gw.yaml beside the folder of tasks.
func (o *Options) findConfig(getenv func(string) string) serve.ConfigFile {
	if o.configPath != "" {
		return serve.ConfigFile{Path: o.configPath, Getenv: getenv}
	}
	return serve.ConfigFile{Path: o.besideTasks("gw.yaml"), Optional: true, Getenv: getenv}
}

// findCrontab returns the crontab file: the one that was given, otherwise the file crontab beside the folder of tasks.
func (o *Options) findCrontab() serve.CrontabFile {
	if o.crontab != "" {
		return serve.CrontabFile{Path: o.crontab}
	}
	return serve.CrontabFile{Path: o.besideTasks("crontab"), Optional: true}
}

// besideTasks returns the path of a file beside the folder of tasks.
func (o *Options) besideTasks(name string) string {
	return filepath.Join(filepath.Dir(filepath.Clean(o.worker.Tasks.Path)), name)
}

// takeFile applies the settings of the config file that neither flags nor the environment set.
func (o *Options) takeFile(flags *pflag.FlagSet, given func(flag string) bool) error {
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

// name returns the name of a setting in its source: the position and key in the config file, otherwise the flag.
func (o *Options) name(flag string) string {
	if setting, ok := o.fromFile[flag]; ok {
		return setting.Position.String() + ": " + setting.Key.Name
	}
	return "--" + flag
}

// connectionFrom finds the connection that a setting or the environment gives.
func (o *Options) connectionFrom(flag, given string, getenv func(string) string) (string, error) {
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

// shown returns the value of a setting for a message: as written in the config file, before variables are expanded, if it
// comes from there.
func (o *Options) shown(flag, value string) string {
	if setting, ok := o.fromFile[flag]; ok {
		return setting.Text.Written
	}
	return value
}

// wrong returns an error about a setting, with the setting's name in its source.
func (o *Options) wrong(flag, message string) error {
	if setting, ok := o.fromFile[flag]; ok {
		return config.Problem{Position: setting.Position, Message: setting.Key.Name + " " + message}
	}
	return errors.New("--" + flag + " " + message)
}
