// Package reshard makes databases shards and moves slots between them, with the jobs in these slots.
//
// The databases decide: each one records which slots it has, and each step of a move is one transaction of one of them. The
// functions of sql/functions/shards describe the steps. A move that was interrupted anywhere continues by the states that it
// has left, in this or in another process.
package reshard
