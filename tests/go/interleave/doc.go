// Package interleave runs the SQL functions of the queue in every order that PostgreSQL allows, and checks that each order
// gives what some order of whole calls gives.
//
// A [world] is a few rows in the tables and two or more sessions, each with a transaction of one or two calls. The
// functions of the test database are changed in one way only: before each statement that reads or changes a table stands
// a stop, where a session waits until the driver lets it do the next step. At READ COMMITTED each statement takes a
// snapshot of its own, so between statements, and where a session waits for a lock, is where the order matters.
//
//   - stops.go and scan.go put the stops into the body of a function, schema.go into a whole schema.
//   - session.go and driver.go run sessions one step at a time, and learn from the server who waits for a lock.
//   - footprint.go says which tables a step reads and changes; explore.go tries all orders, but for those that differ
//     only in steps that do not depend on each other.
//   - worlds.go and calls.go have the rows and the calls; a [judge] tells what is wrong with the outcome of an order.
package interleave
