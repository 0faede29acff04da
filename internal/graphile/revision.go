// Package graphile contains constants about Graphile Worker that pkg/shim and pkg/migrate share.
package graphile

// Revision is the revision of Graphile Worker's schema that the queue's tables correspond to, and the newest one that a
// worker supports.
const Revision = 20
