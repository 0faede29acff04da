package doctor_test

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/gwsql/gw/internal/pgtest"
)

const oldSnapshot = "old snapshot"

func sessionOf(conn *pgx.Conn) string { return fmt.Sprintf("session %d", conn.PgConn().PID()) }

func TestSessionsThatHoldBackTheRemovalOfDeadRowsAreTold(t *testing.T) {
	database, elsewhere := pgtest.Database(t), pgtest.EmptyDatabase(t)
	pool := pgtest.Pool(t, database)
	reader := session(t, database, "begin isolation level repeatable read", "select 1")
	writer := session(t, database, "begin", "select txid_current()")
	idle := session(t, database, "begin", "select 1")
	elsewhereReader := session(t, elsewhere, "begin isolation level repeatable read", "select 1")
	elsewhereWriter := session(t, elsewhere, "begin", "select txid_current()")
	if pgtest.Value[bool](t, pool, told, oldSnapshot, sessionOf(reader)) {
		t.Error("a young transaction is reported")
	}

	pgtest.Exec(t, pool, "select graphile_worker.set_setting('old_snapshot_after', '1 second')")
	// The sessions are in the order in which they began, so all are old when the last one is.
	for _, conn := range []*pgx.Conn{elsewhereWriter, writer, reader} {
		pgtest.Await(t, pool, told, oldSnapshot, sessionOf(conn))
	}
	for _, conn := range []*pgx.Conn{idle, elsewhereReader} {
		if pgtest.Value[bool](t, pool, told, oldSnapshot, sessionOf(conn)) {
			t.Errorf("%s holds nothing back and is told", sessionOf(conn))
		}
	}
	for _, conn := range []*pgx.Conn{reader, writer, elsewhereWriter} {
		pgtest.Exec(t, pool, remedy(t, pool, oldSnapshot, sessionOf(conn)))
		pgtest.Await(t, pool, over, oldSnapshot, sessionOf(conn))
	}
}

func TestPreparedTransactionsAreTold(t *testing.T) {
	pool := install(t, pgtest.Server(t, map[string]string{"max_prepared_transactions": "1"}).URL("postgres"))
	pgtest.Exec(t, pool, "select graphile_worker.set_setting('old_snapshot_after', '1 second')")
	visit(t, pool.Config().ConnString(), "begin", "select txid_current()", "prepare transaction 'it''s lost'")

	const subject = "prepared transaction it's lost"
	pgtest.Await(t, pool, told, oldSnapshot, subject)
	pgtest.Exec(t, pool, remedy(t, pool, oldSnapshot, subject))
	if pgtest.Value[bool](t, pool, told, oldSnapshot, subject) {
		t.Error("it is reported after its remedy")
	}
}

// A slot has no time; its age is the number of transactions since.
func TestReplicationSlotsAreTold(t *testing.T) {
	pool := install(t, pgtest.Server(t, map[string]string{"wal_level": "replica"}).URL("postgres"))
	pgtest.Exec(t, pool, "select pg_create_physical_replication_slot('standby', true)")
	standby := replicate(t, pool.Config().ConnString(), "standby")
	xmin := pgtest.Value[string](t, pool, "select txid_current()::text")
	feedBack(t, standby, xmin)
	pgtest.Await(t, pool, "select s.xmin is not null from pg_replication_slots as s")
	const subject = "replication slot standby"
	if pgtest.Value[bool](t, pool, told, oldSnapshot, subject) {
		t.Error("a young snapshot is reported")
	}

	pgtest.Exec(t, pool, burnTransactions(100001))
	if !pgtest.Value[bool](t, pool, told, oldSnapshot, subject) {
		t.Error("an old snapshot is not reported")
	}
	if err := standby.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	pgtest.Await(t, pool, "select not s.active from pg_replication_slots as s")
	pgtest.Exec(t, pool, remedy(t, pool, oldSnapshot, subject))
	if pgtest.Value[bool](t, pool, told, oldSnapshot, subject) {
		t.Error("it is reported after its remedy")
	}
}

// An owner who is not a superuser cannot see the start of another role's transaction. Then its age is the number of transactions since,
// until the owner gets the right.
func TestHiddenSessionsAreToldByTheirAgeInTransactions(t *testing.T) {
	server := pgtest.Server(t, nil)
	admin := pgtest.Pool(t, server.URL("postgres"))
	owner := "gw_test_" + strings.ToLower(rand.Text())
	pgtest.Exec(t, admin, "create role "+owner+" login")
	pgtest.Exec(t, admin, "create database owned owner "+owner)
	pool := install(t, withUser(t, server.URL("owned"), owner))
	pgtest.Exec(t, admin, "create database other")
	holder := session(t, server.URL("owned"), "begin", "select txid_current()")
	elsewhere := session(t, server.URL("other"), "begin isolation level repeatable read",
		"select 1") // its snapshot is as old as the holder
	if pgtest.Value[bool](t, pool, told, oldSnapshot, sessionOf(holder)) {
		t.Error("a young transaction is reported")
	}

	pgtest.Exec(t, pool, burnTransactions(100001))
	if !pgtest.Value[bool](t, pool, told, oldSnapshot, sessionOf(holder)) {
		t.Fatal("an old transaction is not reported")
	}
	if _, err := elsewhere.Exec(t.Context(), "select txid_current()"); err != nil {
		t.Fatal(err)
	}
	if pgtest.Value[bool](t, pool, told, oldSnapshot, sessionOf(elsewhere)) {
		t.Error("a young transaction of another database is reported because of its old snapshot")
	}
	_, grant, found := strings.Cut(remedy(t, pool, oldSnapshot, sessionOf(holder)), "-- to see its start: ")
	if !found {
		t.Fatal("the remedy does not contain the right that is needed to see more")
	}
	pgtest.Exec(t, admin, grant)
	if pgtest.Value[bool](t, pool, told, oldSnapshot, sessionOf(holder)) {
		t.Error("it is reported although its start, a moment ago, is visible")
	}
	pgtest.Exec(t, pool, "select graphile_worker.set_setting('old_snapshot_after', '1 second')")
	pgtest.Await(t, pool, told, oldSnapshot, sessionOf(holder))
}

// burnTransactions returns a statement that uses up n transaction ids.
func burnTransactions(n int) string {
	return fmt.Sprintf(`do $$
		begin
		  create temp table if not exists burnt (n integer) on commit delete rows;
		  for n in 1..%d loop
		    begin
		      insert into burnt values (n);
		    exception when division_by_zero then
		    end;
		  end loop;
		end $$`, n)
}

func withUser(t *testing.T, databaseURL, user string) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	if u.User = url.User(user); u.Query().Has("user") {
		query := u.Query()
		query.Set("user", user)
		u.RawQuery = query.Encode()
	}
	return u.String()
}

// replicate starts a replication connection like a standby.
func replicate(t *testing.T, databaseURL, slot string) *pgconn.PgConn {
	t.Helper()
	config, err := pgconn.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["replication"] = "true"
	conn, err := pgconn.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	conn.Frontend().SendQuery(&pgproto3.Query{String: "START_REPLICATION SLOT " + slot + " 0/1000000"})
	if err := conn.Frontend().Flush(); err != nil {
		t.Fatal(err)
	}
	for {
		message, err := conn.ReceiveMessage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, started := message.(*pgproto3.CopyBothResponse); started {
			return conn
		}
	}
}

// feedBack sends the snapshot that the standby still needs: the time, xmin and epoch, catalog xmin and epoch.
func feedBack(t *testing.T, standby *pgconn.PgConn, xmin string) {
	t.Helper()
	full, err := strconv.ParseUint(xmin, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	message := binary.BigEndian.AppendUint64([]byte{'h'}, 0)
	message = binary.BigEndian.AppendUint32(message, uint32(full))
	message = binary.BigEndian.AppendUint32(message, uint32(full>>32))
	message = binary.BigEndian.AppendUint64(message, 0)
	standby.Frontend().Send(&pgproto3.CopyData{Data: message})
	if err := standby.Frontend().Flush(); err != nil {
		t.Fatal(err)
	}
}
