// Package migrate installs the queue's schema in a PostgreSQL database and upgrades it.
//
//	config, err := pgx.ParseConfig(os.Getenv("DATABASE_URL"))
//	...
//	migrator, err := migrate.New(config, migrate.Config{})
//	...
//	result, err := migrator.Up(ctx)
//
// # Versions
//
// The migrations are numbered from 1 without gaps. The version of a schema is the number of its last migration, stored
// in its table _gw_schema_version. Each migration is one transaction: it is applied and recorded completely, or not at
// all.
//
// # What Up changes
//
// Up installs the queue in a schema that is missing or empty, and upgrades a schema that it has installed. With
// [Config.Adopt] it also adopts a schema of Graphile Worker, whose tables and jobs stay unchanged. It refuses any other
// schema with a [Refusal] and changes nothing. Any number of programs may call Up at the same time: one of them applies
// the migrations, and the others wait until they are applied. If there is nothing to do, Up writes nothing and needs
// only the right to read.
//
// # Changes by others
//
// A later Graphile Worker may replace the functions that both have. [Migrator.Status] returns the origin of each
// function and trigger, and [Migrator.Repair] restores those of gw.
//
// # Locks
//
// A migration that waits for a lock makes the application's statements wait behind it. So Up waits for
// [Config.LockTimeout] at most, pauses to let them run, and tries again.
//
// Migrating programs wait for each other by an advisory lock, which any role can take. Up reports its holder, and gives
// up after ten minutes with a [HeldError].
package migrate
