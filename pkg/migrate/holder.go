package migrate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// ternLock is the advisory lock of all programs that migrate with tern. Any role that may connect can take it.
const ternLock = int64(9628173550095224)

// A Holder is the session that holds the advisory lock of migrations, as far as our role may see it.
type Holder struct {
	PID         int32 // 0: it is a prepared transaction
	Role        string
	Application string
	Client      string    // address; empty if it is local or hidden
	Since       time.Time // when it connected; zero if hidden
}

// findHolder returns the session that holds ternLock in this database; nil if it is free by now, or if the query fails:
// an error of the connection recurs in the next attempt.
func findHolder(ctx context.Context, conn *pgx.Conn) *Holder {
	var (
		h     Holder
		since *time.Time
	)
	err := conn.QueryRow(ctx, `
		select coalesce(l.pid, 0), coalesce(a.usename::text, ''), coalesce(a.application_name, ''),
		       coalesce(pg_catalog.host(a.client_addr), ''), a.backend_start
		  from pg_catalog.pg_locks as l
		  left join pg_catalog.pg_stat_activity as a on a.pid = l.pid
		 where l.locktype = 'advisory'
		   and l.database = (select d.oid from pg_catalog.pg_database as d where d.datname = pg_catalog.current_database())
		   and l.classid = ($1::int8 >> 32)::pg_catalog.oid
		   and l.objid = ($1::int8 & 4294967295)::pg_catalog.oid
		   and l.objsubid = 1
		   and l.granted
		 order by a.backend_start, l.pid
		 limit 1`, ternLock).Scan(&h.PID, &h.Role, &h.Application, &h.Client, &since)
	if err != nil {
		return nil
	}
	if since != nil {
		h.Since = *since
	}
	return &h
}

// String describes the session.
func (h *Holder) String() string {
	if h.PID == 0 {
		return "a prepared transaction"
	}
	known := []string{fmt.Sprintf("role %q", h.Role), fmt.Sprintf("application %q", h.Application)}
	if h.Client != "" {
		known = append(known, "client "+h.Client)
	}
	if !h.Since.IsZero() {
		known = append(known, "connected since "+h.Since.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("process %d (%s)", h.PID, strings.Join(known, ", "))
}

// remedy returns how to end the session.
func (h *Holder) remedy() string {
	if h.PID == 0 {
		return "find it in pg_prepared_xacts and end it by rollback prepared"
	}
	return fmt.Sprintf("if it is not a migration, let a superuser end it: select pg_terminate_backend(%d)", h.PID)
}

// A HeldError is the error of a run that has waited too long for other migrations.
type HeldError struct {
	Waited time.Duration
	Holder *Holder // nil if unknown
	Err    error   // of the last attempt
}

// Error returns the holder of the lock and a remedy.
func (e *HeldError) Error() string {
	if e.Holder == nil {
		return fmt.Sprintf("waited %s for another migration to end: %v; look for long transactions in pg_stat_activity, then try again",
			e.Waited.Round(time.Second), e.Err)
	}
	return fmt.Sprintf("waited %s for another migration to end: its lock is held by %s; %s; then try again",
		e.Waited.Round(time.Second), e.Holder, e.Holder.remedy())
}

// Unwrap returns the error of the last attempt.
func (e *HeldError) Unwrap() error { return e.Err }
