//go:build ha

package ha

import (
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

// Producers and workers reach the cluster by a URL with all servers and by HAProxy, while one event follows the other. An event
// returns when there is a primary again. What it returns is called when jobs are added and run again.
func TestAClusterOfPatroniLosesNoJobThroughAnyFailover(t *testing.T) {
	c := newCluster(t)
	mustRun(t, c.folder, pgtest.Program(t, "gw-migrate"), "up", "--connection", c.multi())
	l := newLoad(t, c)
	for _, e := range []struct {
		name    string
		happens func(*testing.T, *cluster) (end func())
	}{
		{"switchover", switchover},
		{"postmaster killed, restarted in place", killPostmaster},
		{"postmaster killed, failover", killPostmasterWithFailover},
		{"node lost", loseNode},
		{"node frozen, then reset", freezeNode},
		{"standbys frozen, then node lost", freezeStandbysAndLoseNode},
	} {
		t.Run(e.name, func(t *testing.T) {
			began := time.Now()
			end := e.happens(t, c)
			l.awaitFlow(t)
			l.report(t, e.name, began)
			end()
			c.awaitHealthy(t)
		})
	}
	l.finish(t, c)
}

func nothing() {}

func switchover(t *testing.T, c *cluster) (end func()) {
	former := c.leader(t)
	// The answer comes at the end of the switchover, possibly after the client's timeout.
	_, _ = former.request(http.MethodPost, "/switchover", map[string]string{"leader": former.name})
	c.awaitAnother(t, former)
	return nothing
}

func killPostmaster(t *testing.T, c *cluster) (end func()) {
	leader := c.leader(t)
	signalAll(t, syscall.SIGKILL, []int{leader.postmaster(t)})
	leader.await(t, "select not pg_is_in_recovery()")
	if now := c.leader(t); now != leader {
		t.Errorf("%s is the primary instead of %s", now.name, leader.name)
	}
	return nothing
}

// killPostmasterWithFailover sets primary_start_timeout to 0: Patroni does not wait for a restart of the primary.
func killPostmasterWithFailover(t *testing.T, c *cluster) (end func()) {
	leader := c.leader(t)
	leader.configure(t, map[string]any{"primary_start_timeout": 0})
	signalAll(t, syscall.SIGKILL, []int{leader.postmaster(t)})
	c.awaitAnother(t, leader)
	return func() { c.leader(t).configure(t, map[string]any{"primary_start_timeout": nil}) }
}

func loseNode(t *testing.T, c *cluster) (end func()) {
	leader := c.leader(t)
	leader.kill(t)
	c.awaitAnother(t, leader)
	return func() { leader.start(c.t) }
}

// freezeNode stops the primary, which is reset afterwards, as a watchdog does. If it only continued, Patroni 3.0.2 could take the
// leader key back from the new primary, whose commits would be lost.
func freezeNode(t *testing.T, c *cluster) (end func()) {
	leader := c.leader(t)
	leader.freeze(t)
	c.awaitAnother(t, leader)
	return func() {
		leader.kill(t)
		leader.start(c.t)
	}
}

// freezeStandbysAndLoseNode stops the replication, so that commits wait, and kills the primary while some of them do.
func freezeStandbysAndLoseNode(t *testing.T, c *cluster) (end func()) {
	leader := c.leader(t)
	var frozen []int
	for _, n := range c.standbys(leader) {
		frozen = append(frozen, n.receivers(t)...)
	}
	signalAll(t, syscall.SIGSTOP, frozen)
	thaw := continuing(t, frozen)
	leader.await(t, "select count(*) >= 3 from pg_stat_activity where wait_event = 'SyncRep'")
	leader.kill(t)
	thaw()
	c.awaitAnother(t, leader)
	return func() { leader.start(c.t) }
}
