// Package ha tests a queue on a cluster of Patroni: three PostgreSQL servers, etcd and HAProxy, all on the loopback, through
// planned and unplanned failovers. The tests have the build tag ha, because they need programs of Debian 12 and take ten minutes:
// make test-ha runs them.
package ha
