// Package stop tells a command when to stop: on a signal, or when nobody reads its output any more.
package stop
