// Package migrate brings the queue's schema into a PostgreSQL database and keeps it up to date.
//
//	config, err := pgx.ParseConfig(os.Getenv("DATABASE_URL"))
//	...
//	migrator, err := migrate.New(config, migrate.Config{})
//	...
//	result, err := migrator.Up(ctx)
//
// # Versions
//
// The migrations are numbered without a gap from 1. The version of a schema is the number of its last one and stands in
// its table _gw_schema_version. Each migration is one transaction: it is there with its version, or not at all.
//
// # What Up touches
//
// Up installs into a schema that is missing or empty and upgrades what it has made. With [Config.Adopt] it also takes over
// a schema that Graphile Worker has made, whose tables and jobs stay as they are. Everything else it refuses with a
// [Refusal], and then it has changed nothing. Any number of programs may call Up at the same time: one of them applies,
// the others wait and find the work done. When there is nothing to do, Up writes nothing and needs no right but to read.
//
// # What others change
//
// A later Graphile Worker may replace the functions that it shares with us. [Migrator.Status] tells whose each function and
// trigger is, and [Migrator.Repair] puts ours back.
//
// # Locks
//
// A migration that waits for a lock makes the application wait in line behind it. Up therefore waits for
// [Config.LockTimeout] at most, lets everybody through, and tries again.
//
// Programs that migrate wait for each other by an advisory lock, which any role can take. Up says who holds it, and gives up
// after ten minutes with a [HeldError].
package migrate
