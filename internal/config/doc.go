// Package config reads gw-run's config file: settings that mirror the command's flags, forbidden flags, and how each task
// is served. It looks at all of a file before it complains, and tells every mistake with the line and column of it.
package config
