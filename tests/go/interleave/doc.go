// Package interleave runs the SQL functions of the queue in every order that PostgreSQL allows, and checks that each
// order has the same outcome as some order of whole calls.
//
// A [world] is a few rows in the tables and two or more sessions, each with a transaction of one or two calls. The
// functions of the test database are changed in one way only: there is a stop before each statement that reads or
// changes a table, where a session waits until the driver lets it do the next step. At READ COMMITTED each statement
// takes a snapshot of its own, so the order matters only between statements, and where a session waits for a lock.
//
//   - stops.go and scan.go put the stops into the body of a function, schema.go into a whole schema.
//   - session.go and driver.go run sessions one step at a time, and learn from the server who waits for a lock.
//   - footprint.go determines which tables a step reads and changes; explore.go tries all orders, except those that differ
//     only in steps that do not depend on each other.
//   - worlds.go and calls.go have the rows and the calls; a [judge] returns what is wrong with the outcome of an order.
package interleave
