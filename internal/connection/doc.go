// Package connection finds out which database to connect to and in which schema the queue is, and opens sessions in which
// only PostgreSQL's own names are found.
package connection
