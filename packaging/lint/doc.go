// Package lint checks the files of packaging where none of the programs that read them runs. It is a module of its own, so
// that what those programs are made of never enters that of the queue.
package lint
