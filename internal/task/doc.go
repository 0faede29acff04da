// Package task implements the kinds of handlers of gw-run: a program that is started for each job, one that keeps
// running, a module of Node.js, an HTTP server, and a function of the database.
//
// [Discover] finds the executables and modules of a folder and their tasks; [Executable.Run] runs an executable for one
// job with the protocol of Graphile Worker, so that the same script works with both workers:
//
//   - the payload comes on stdin as {"payload":...} on one line without a newline, then end of file;
//   - the other attributes of the job come in environment variables that begin with GRAPHILE_WORKER_;
//   - exit code 0 completes the job, any other fails it, and the last lines of stderr are stored with the failure.
//
// [Persistent.Run] passes jobs to programs that keep running, with the protocol of docs/run.md. [Node.Run] runs modules
// that were written for Graphile Worker; docs/node.md describes what they get. [HTTP.Handler] returns the handler that
// sends each job to a URL, and [SQL.Task] the one that calls a function; docs/handlers.md describes both.
package task
