// Package health tells orchestrators how a worker of this process does, over HTTP.
//
// A worker is alive as long as its loops turn: whoever finds it dead should start it anew. It is ready when it can work:
// it has its connections and its claims succeed. A worker without its database is alive and not ready, for to start it
// anew would not help.
package health
