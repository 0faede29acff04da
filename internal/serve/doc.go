// Package serve implements the worker of gw-run: it runs the jobs of a queue by the tasks that a folder and a config
// file describe, and reloads them when they change.
package serve
