// Package shard assigns jobs to shards: independent PostgreSQL databases, each with a queue of its own.
//
// Every job belongs to a slot, a number from 0 to 255: the first byte of the SHA-256 of its shard key. A [Map] says which
// shard has which slots. All jobs of a named queue, and all jobs with one job key, have the same slot, so one shard has all of
// them. The SQL function shard_slot computes the same numbers, as every standard library can.
//
// The package only describes shards. package shim adds jobs to them, package shard/mapfile reads a map from a file, and
// docs/scale.md says when to use shards.
package shard
