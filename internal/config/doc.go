// Package config reads gw-run's config file: settings that correspond to the command's flags, forbidden flags, and how
// each task is served. It checks the whole file, and returns every problem with its line and column.
package config
