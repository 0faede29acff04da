// Package graphile has what pkg/shim and pkg/migrate both know about Graphile Worker.
package graphile

// Revision is the revision of Graphile Worker's schema that the shared tables have, and the newest one that a worker knows.
const Revision = 20
