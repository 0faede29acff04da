// Package lint checks the files of packaging with the parsers of the programs that read them, without running these. It
// is a separate module, so that the parsers are not dependencies of the queue.
package lint
