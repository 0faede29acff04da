// Package health reports the health of a worker of this process over HTTP, for orchestrators.
//
// A worker is alive as long as its loops run; a worker that is not alive should be restarted. It is ready if it can
// work: it has its connections and its claims succeed. A worker without its database is alive but not ready, because a
// restart would not help.
package health
