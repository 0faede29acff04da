// Package serve is the worker that gw-run runs: it works the jobs of a queue by the tasks that a folder and a config file
// describe, and takes over what changes in them.
package serve
