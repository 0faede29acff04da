// Package task holds the kinds of handler that gw-run can serve a task with: a program that is started for each job, one
// that keeps running, an HTTP server, and a function of the database.
//
// [Discover] finds the executables of a folder and names their tasks; [Executable.Run] runs one of them for one job, by
// the protocol of Graphile Worker, so that one script works under both workers:
//
//   - the payload comes on stdin as {"payload":...} on one line without a newline, then end of file;
//   - what else is known about the job comes in environment variables that begin with GRAPHILE_WORKER_;
//   - exit code 0 completes the job, anything else fails it, and the last lines of stderr are stored with the failure.
//
// [Persistent.Run] hands jobs to programs that keep running, by the protocol of docs/run.md. [HTTP.Handler] makes the
// handler that sends each job to a URL, and [SQL.Task] the one that calls a function; docs/handlers.md tells of them.
package task
