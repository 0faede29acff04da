// Package terminal prints to terminals: tables, relative times, lists that refresh, a question, a progress bar.
package terminal
