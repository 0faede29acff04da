// Package terminal prints for people: tables, times as they are told, lists that refresh, a question, a progress bar.
package terminal
