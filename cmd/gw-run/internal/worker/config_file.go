package worker

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/connection"
)

// fileSettings are the settings that the config file gives, by the name of their flag.
type fileSettings map[string]config.Setting

// takeFile applies the settings of the config file that neither flags nor the environment set.
func takeFile(settings []config.Setting, flags *pflag.FlagSet, given func(flag string) bool) (fileSettings, error) {
	taken := make(fileSettings)
	var problems []error
	for _, setting := range settings {
		flag := setting.Key.Flag
		if given(flag) {
			continue
		}
		taken[flag] = setting
		if err := flags.Lookup(flag).Value.Set(setting.Value); err != nil {
			problems = append(problems, config.Problem{Position: setting.Position, Message: setting.Key.Name + " " + err.Error()})
		}
	}
	return taken, errors.Join(problems...)
}

// name returns the name of a setting in its source: the position and key in the config file, otherwise the flag.
func (s fileSettings) name(flag string) string {
	if setting, ok := s[flag]; ok {
		return setting.Position.String() + ": " + setting.Key.Name
	}
	return "--" + flag
}

// connectionFrom finds the connection that a setting or the environment gives.
func (s fileSettings) connectionFrom(flag, given string, getenv func(string) string) (string, error) {
	setting, ok := s[flag]
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
func (s fileSettings) shown(flag, value string) string {
	if setting, ok := s[flag]; ok {
		return setting.Text.Written
	}
	return value
}

// wrong returns an error about a setting, with the setting's name in its source.
func (s fileSettings) wrong(flag, message string) error {
	if setting, ok := s[flag]; ok {
		return config.Problem{Position: setting.Position, Message: setting.Key.Name + " " + message}
	}
	return errors.New("--" + flag + " " + message)
}
