// Package stop determines when a command has to stop: on a signal, or when its output is closed.
package stop
