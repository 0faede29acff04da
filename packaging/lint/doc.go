// Package lint checks the files of packaging, and the JSON Schema of config files, with the parsers of the programs that
// read them, without running these. It is a separate module, so that the parsers are not dependencies of the queue.
package lint
