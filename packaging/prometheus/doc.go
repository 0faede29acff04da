// Package prometheus checks the alert rules and the dashboard with Prometheus's own engine. It is a separate module, so that the
// engine is not a dependency of the queue.
package prometheus
