package config

import (
	"path/filepath"
	"strings"
)

// presetPattern matches the names of the config files of Graphile Worker for Node.js.
const presetPattern = "graphile.config.*"

// PresetIn returns the config file of Graphile Worker in a folder and what to say of it, "" if there is none.
func PresetIn(folder string) (path, message string) {
	found, _ := filepath.Glob(filepath.Join(folder, presetPattern)) // an odd folder has none
	if len(found) == 0 {
		return "", ""
	}
	return found[0], presetMessage()
}

func isPreset(path string) bool {
	matches, _ := filepath.Match(presetPattern, filepath.Base(path)) // the pattern is valid
	return matches
}

func presetMessage() string {
	return "a config file of Graphile Worker for Node.js is not read; write a gw.yaml, whose keys are " +
		strings.Join(names(Settings(), Top()), ", ")
}
