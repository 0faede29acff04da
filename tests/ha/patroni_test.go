//go:build ha

package ha

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// state is what Patroni's GET /cluster returns.
type state struct {
	Members []struct {
		Name, Role, State string
		Timeline          int
	}
}

func (s state) leader() string {
	for _, m := range s.Members {
		if m.Role == "leader" && m.State == "running" {
			return m.Name
		}
	}
	return ""
}

// isHealthy reports whether all nodes run, on one timeline, and one of the standbys is synchronous.
func (s state) isHealthy() bool {
	roles := make(map[string]int)
	for _, m := range s.Members {
		if m.State != "running" && m.State != "streaming" || m.Timeline != s.Members[0].Timeline {
			return false
		}
		roles[m.Role]++
	}
	return len(s.Members) == 3 && roles["leader"] == 1 && roles["sync_standby"] == 1
}

// await waits until the cluster, as one of its nodes sees it, is as it should be.
func (c *cluster) await(t *testing.T, what string, is func(state) bool) {
	t.Helper()
	var last string
	waitUntil(t, what, func() bool {
		for _, n := range c.nodes {
			answer, err := n.request(http.MethodGet, "/cluster", nil)
			if err != nil {
				continue
			}
			var s state
			if err := json.Unmarshal(answer, &s); err != nil {
				continue // it is starting
			}
			last = string(answer)
			return is(s)
		}
		return false
	}, func() string { return last })
}

func (c *cluster) awaitHealthy(t *testing.T) {
	t.Helper()
	c.await(t, "all nodes are well", state.isHealthy)
}

// leader returns the primary.
func (c *cluster) leader(t *testing.T) (leader *node) {
	t.Helper()
	c.await(t, "there is a primary", func(s state) bool {
		for _, n := range c.nodes {
			if n.name == s.leader() {
				leader = n
			}
		}
		return leader != nil
	})
	return leader
}

// awaitAnother waits until another node than the given one is the primary.
func (c *cluster) awaitAnother(t *testing.T, former *node) {
	t.Helper()
	c.await(t, "another node than "+former.name+" is the primary", func(s state) bool {
		return s.leader() != "" && s.leader() != former.name
	})
}

// standbys returns the nodes that are not the primary.
func (c *cluster) standbys(leader *node) (found []*node) {
	for _, n := range c.nodes {
		if n != leader {
			found = append(found, n)
		}
	}
	return found
}

var client = http.Client{Timeout: 3 * time.Second}

// request calls Patroni's REST API.
func (n *node) request(method, path string, body any) ([]byte, error) {
	content, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(method, fmt.Sprintf("http://127.0.0.1:%d%s", n.rest, path), bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, response.Status, answer)
	}
	return answer, err
}

// configure changes the configuration of the cluster.
func (n *node) configure(t *testing.T, changes map[string]any) {
	t.Helper()
	if _, err := n.request(http.MethodPatch, "/config", changes); err != nil {
		t.Fatal(err)
	}
}

// await waits until a query on this node returns true.
func (n *node) await(t *testing.T, query string) {
	t.Helper()
	var last error
	waitUntil(t, n.name+": "+query, func() (is bool) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		conn, err := pgx.Connect(ctx, fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres", n.port))
		if last = err; err != nil {
			return false
		}
		defer conn.Close(context.WithoutCancel(ctx))
		last = conn.QueryRow(ctx, query).Scan(&is)
		return last == nil && is
	}, func() string { return fmt.Sprint(last) })
}
