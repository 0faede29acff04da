// Package cli reads what the commands have in common from their flags and environment: the database to connect to and
// the schema to work in.
package cli
