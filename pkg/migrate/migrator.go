package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	tern "github.com/jackc/tern/v2/migrate"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/sql"
)

// disconnectTimeout limits the termination message to a server that may be gone.
const disconnectTimeout = 5 * time.Second

// A Migrator migrates one schema of one database. It holds no connection between calls.
type Migrator struct {
	config     *pgx.ConnConfig
	cfg        Config
	schema     string
	migrations []Migration
	locks      lockPolicy
}

// Result is the result of Up.
type Result struct {
	Before  int32       // the version found; 0 for a fresh install
	After   int32       // the version now; above what Available returns if a later release has migrated the schema
	Applied []Migration // by this call; other programs may have applied the rest at the same time
}

// String returns the versions and the names of the applied migrations, without their SQL.
func (r Result) String() string {
	names := make([]string, len(r.Applied))
	for i, migration := range r.Applied {
		names[i] = migration.Name
	}
	return fmt.Sprintf("version %d to %d, applied: %s", r.Before, r.After, cmp.Or(strings.Join(names, ", "), "nothing"))
}

// LogValue returns the same for log/slog.
func (r Result) LogValue() slog.Value { return slog.StringValue(r.String()) }

// New returns a Migrator for the database that conn describes. It copies conn and does not connect.
func New(conn *pgx.ConnConfig, cfg Config) (*Migrator, error) {
	return newMigrator(conn, cfg, sql.FS)
}

func newMigrator(conn *pgx.ConnConfig, cfg Config, files fs.FS) (*Migrator, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	migrations, err := loadMigrations(files, cfg.Schema)
	if err != nil {
		return nil, err
	}
	conn = conn.Copy()
	// Without prepared statements, a pooler can be detected, and no plan outlives the tables for which it was made.
	conn.DefaultQueryExecMode = pgx.QueryExecModeExec
	if conn.RuntimeParams["application_name"] == "" {
		conn.RuntimeParams["application_name"] = "gw-migrate"
	}
	connection.Speak(conn)
	return &Migrator{
		config:     conn,
		cfg:        cfg,
		schema:     cfg.Schema,
		migrations: migrations,
		locks:      lockPolicy{timeout: cfg.LockTimeout, tries: 10, others: 10 * time.Minute, pause: pauseBeforeRetry},
	}, nil
}

// Status examines the schema and changes nothing. Its Refusal covers the schema only; [Migrator.Check] covers
// everything.
func (m *Migrator) Status(ctx context.Context) (Status, error) { return connected(ctx, m, m.inspect) }

// Check makes all checks of Up and changes nothing.
func (m *Migrator) Check(ctx context.Context) (Status, error) { return connected(ctx, m, m.check) }

// Up installs the schema or upgrades it to this program's version. Its error is a [*Refusal] if it has changed nothing,
// and a [*PartialError] once it has begun.
func (m *Migrator) Up(ctx context.Context) (Result, error) { return connected(ctx, m, m.up) }

func (m *Migrator) up(ctx context.Context, conn *pgx.Conn) (Result, error) {
	status, err := m.check(ctx, conn)
	if err == nil && status.Refusal == nil && status.State == Absent {
		status, err = m.createSchema(ctx, conn)
	}
	if err != nil {
		return Result{}, err
	}
	if status.Refusal != nil {
		return Result{}, status.Refusal
	}
	for _, warning := range status.Warnings {
		m.cfg.OnStep(Step{Action: Warn, Schema: m.schema, Warning: warning})
	}
	for _, role := range status.Shared() {
		m.cfg.OnStep(Step{Action: Share, Schema: m.schema, Role: role})
	}
	result := Result{Before: status.Installed, After: status.Available}
	if status.State == Newer {
		result.After = status.Installed
	}
	if len(status.Pending) == 0 {
		return result, nil
	}
	result.Applied, err = m.apply(ctx, conn, status.Pending)
	var overtaken tern.BadVersionError
	if errors.As(err, &overtaken) { // a later release has migrated meanwhile
		return m.up(ctx, conn)
	}
	if err != nil {
		return Result{}, err
	}
	return result, nil
}

func (m *Migrator) check(ctx context.Context, conn *pgx.Conn) (Status, error) {
	status, err := m.inspect(ctx, conn)
	if err != nil || status.Refusal != nil || status.State == Current || status.State == Newer {
		return status, err
	}
	status.Refusal, err = m.preflight(ctx, conn, status.State)
	return status, err
}

// createSchema creates the schema and returns the status after that. The statement has no "if not exists", which needs
// the right to create even if the schema exists. If another program creates it first, that schema is examined.
func (m *Migrator) createSchema(ctx context.Context, conn *pgx.Conn) (Status, error) {
	m.cfg.OnStep(Step{Action: CreateSchema, Schema: m.schema})
	_, err := conn.Exec(ctx, "create schema "+m.quoted())
	if err != nil && !isCode(err, "42P06") && !isCode(err, "23505") {
		return Status{}, fmt.Errorf("create schema %s: %w", m.quoted(), err)
	}
	return m.inspect(ctx, conn)
}

// connected returns the result of do on a connection of its own.
func connected[T any](ctx context.Context, m *Migrator,
	do func(context.Context, *pgx.Conn) (T, error)) (result T, err error) {
	conn, err := m.connect(ctx)
	if err != nil {
		return result, err
	}
	defer m.disconnect(ctx, conn)
	return do(ctx, conn)
}

func (m *Migrator) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := connection.Connect(ctx, m.config)
	if err != nil {
		if refusal := poolerRefusal(err); refusal != nil {
			return nil, refusal
		}
		return nil, fmt.Errorf("connect: %w", err)
	}
	return conn, nil
}

func (m *Migrator) disconnect(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), disconnectTimeout)
	defer cancel()
	// All work is committed or rolled back by now.
	_ = conn.Close(ctx)
}

func (m *Migrator) quoted() string { return quote(m.schema) }

func (m *Migrator) qualified(table string) string { return pgx.Identifier{m.schema, table}.Sanitize() }

// An Action is a kind of [Step].
type Action string

const (
	CreateSchema Action = "create schema"
	Apply        Action = "apply"
	Wait         Action = "wait"    // for a lock of another session
	Warn         Action = "warn"    // about the following steps
	Share        Action = "share"   // privileges with a role that calls Graphile Worker's functions
	Replace      Action = "replace" // a function or trigger that differs from ours
)

// A Step is a step that Up or Repair is about to make.
type Step struct {
	Action    Action
	Schema    string
	Migration Migration     // the migration to apply or to retry; zero when waiting for another migrating program
	Pause     time.Duration // the duration of Wait
	Err       error         // the reason for waiting
	Holder    *Holder       // the session that holds the lock of migrations; nil if unknown
	Warning   string        // the text of Warn
	Role      Role          // the role of Share
	Object    Object        // the object of Replace
}

// String returns the step as a line of progress.
func (s Step) String() string {
	switch {
	case s.Action == CreateSchema:
		return "create schema " + quote(s.Schema)
	case s.Action == Warn:
		return "warning: " + s.Warning
	case s.Action == Share:
		return fmt.Sprintf("grant role %s the rights that the replaced functions of Graphile Worker need", s.Role.Name)
	case s.Action == Replace:
		return fmt.Sprintf("restore %s (%s)", s.Object, s.Object.Origin)
	case s.Action == Apply && s.Migration.Adopted:
		return "adopt Graphile Worker's tables instead of " + s.Migration.Name
	case s.Action == Apply:
		return "apply " + s.Migration.Name
	case s.Migration.Version == 0 && s.Holder != nil:
		return fmt.Sprintf("another migration is running, trying again in %s; its lock is held by %s; %s",
			s.Pause, s.Holder, s.Holder.remedy())
	case s.Migration.Version == 0:
		return fmt.Sprintf("another migration is running, trying again in %s", s.Pause)
	default:
		return fmt.Sprintf("%s waits for a lock of another session, trying again in %s (%v)", s.Migration.Name, s.Pause,
			s.Err)
	}
}
