// Package connection determines the database to connect to and the schema of the queue, and opens sessions in which
// only PostgreSQL's own names are found.
package connection
