package shimtest_test

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
	"github.com/gwsql/gw/pkg/shimtest"
)

var client = shim.NewClient(nil, shim.ClientConfig{})

func add(t *testing.T, db shim.DB, task string, payload any, opts *shim.AddOptions) *shim.JobInfo {
	t.Helper()
	job, err := client.With(db).Add(t.Context(), task, payload, opts)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func TestOnlyWhatTheTransactionHasAddedIsFound(t *testing.T) {
	pool := newPool(t)
	key := &shim.AddOptions{JobKey: "key"}
	add(t, pool, "before", nil, nil)
	add(t, pool, "keyed", nil, key)

	tx := begin(t, pool)
	mine := add(t, tx, "mine", nil, nil)
	if got := shimtest.RequireEnqueued(t, tx, "mine", nil); got.ID != mine.ID || got.TaskIdentifier != "mine" {
		t.Errorf("found %+v, want %+v", got, mine)
	}
	shimtest.RequireNotEnqueued(t, tx, "before", nil)
	shimtest.RequireNotEnqueued(t, tx, "keyed", nil)
	add(t, tx, "keyed", nil, key)
	if got := shimtest.RequireEnqueued(t, tx, "keyed", nil); got.Revision != 1 {
		t.Errorf("found %+v, want the job that was replaced", got)
	}
	shimtest.RequireNotEnqueued(t, pool, "mine", nil)

	err := pgx.BeginFunc(t.Context(), tx, func(savepoint pgx.Tx) error {
		add(t, savepoint, "within", nil, nil)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	shimtest.RequireEnqueued(t, tx, "within", nil)
	if jobs := shimtest.Enqueued(t, tx, "mine", nil); len(jobs) != 1 {
		t.Errorf("found %v", jobs)
	}
}

func TestAMissingJobFailsTheTestAndSaysWhatIsThere(t *testing.T) {
	tx := begin(t, newPool(t))
	r := &recorder{}
	shimtest.RequireEnqueued(r, tx, "mail", nil)
	if want := `this transaction has added no job of task "mail", nor any other`; r.failure != want {
		t.Errorf("it said %q, want %q", r.failure, want)
	}
	add(t, tx, "mail", map[string]string{"to": "Ada"}, &shim.AddOptions{QueueName: "out", JobKey: "k",
		Flags: []string{"f"}})
	r = &recorder{}
	shimtest.RequireEnqueued(r, tx, "mail", &shimtest.Match{Payload: map[string]string{"to": "Grace"}})
	for _, part := range []string{
		`no job of task "mail" with a payload that holds {"to":"Grace"}, only:`, `{"to":"Ada"}`, `queue "out"`,
		`key "k"`,
		`flags ["f"]`,
	} {
		if !strings.Contains(r.failure, part) {
			t.Errorf("it said %q, which lacks %q", r.failure, part)
		}
	}
}

func TestMoreJobsThanOneFailTheTest(t *testing.T) {
	tx := begin(t, newPool(t))
	add(t, tx, "mail", 1, nil)
	add(t, tx, "mail", 2, nil)
	r := &recorder{}
	shimtest.RequireEnqueued(r, tx, "mail", nil)
	if !strings.Contains(r.failure, "added 2 jobs") {
		t.Errorf("it said %q", r.failure)
	}
	if got := shimtest.Enqueued(t, tx, "mail", nil); len(got) != 2 || got[0].ID > got[1].ID {
		t.Errorf("found %v", got)
	}
	shimtest.RequireEnqueued(t, tx, "mail", &shimtest.Match{Payload: 2})
	r = &recorder{}
	shimtest.RequireNotEnqueued(r, tx, "mail", nil)
	if !strings.Contains(r.failure, "added 2 jobs of task \"mail\", want none") {
		t.Errorf("it said %q", r.failure)
	}
}

func TestAMatchSaysWhatAJobIsLike(t *testing.T) {
	tx := begin(t, newPool(t))
	at := time.Date(2040, 1, 2, 3, 4, 5, 678901000, time.UTC)
	add(t, tx, "mail", map[string]any{"to": "Ada", "n": int64(9007199254740993),
		"deep": map[string]any{"a": []int{1, 2}, "b": nil}},
		&shim.AddOptions{QueueName: "out", JobKey: "k", Priority: 3, MaxAttempts: 4, RunAt: at,
			Flags: []string{"f", "g"}})
	type object = map[string]any
	for name, c := range map[string]struct {
		match shimtest.Match
		fits  bool
	}{
		"everything": {shimtest.Match{Payload: object{"to": "Ada"}, QueueName: "out", JobKey: "k", Priority: new(3),
			MaxAttempts: 4,
			RunAt:       at, Flags: []string{"g"}, Schema: "graphile_worker"}, true},
		"another queue":           {shimtest.Match{QueueName: "in"}, false},
		"another key":             {shimtest.Match{JobKey: "l"}, false},
		"another priority":        {shimtest.Match{Priority: new(0)}, false},
		"another maximum":         {shimtest.Match{MaxAttempts: 5}, false},
		"another time":            {shimtest.Match{RunAt: at.Add(time.Microsecond)}, false},
		"the same time elsewhere": {shimtest.Match{RunAt: at.In(time.FixedZone("", 3600))}, true},
		"another flag":            {shimtest.Match{Flags: []string{"f", "h"}}, false},
		"an inner member":         {shimtest.Match{Payload: object{"deep": object{"b": nil}}}, true},
		"a missing member":        {shimtest.Match{Payload: object{"deep": object{"c": nil}}}, false},
		"an equal array": {shimtest.Match{Payload: object{"deep": object{"a": []float64{1, 2}}}},
			true},
		"a shorter array":                 {shimtest.Match{Payload: object{"deep": object{"a": []int{1}}}}, false},
		"a number that a float is not":    {shimtest.Match{Payload: object{"n": int64(9007199254740992)}}, false},
		"the same number":                 {shimtest.Match{Payload: object{"n": int64(9007199254740993)}}, true},
		"text for a number":               {shimtest.Match{Payload: object{"n": "9007199254740993"}}, false},
		"an object for text":              {shimtest.Match{Payload: object{"to": object{}}}, false},
		"an array for an object":          {shimtest.Match{Payload: object{"deep": []int{}}}, false},
		"no member in particular":         {shimtest.Match{Payload: object{}}, true},
		"another value of a member":       {shimtest.Match{Payload: object{"to": "Grace"}}, false},
		"a payload that is not an object": {shimtest.Match{Payload: "Ada"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := len(shimtest.Enqueued(t, tx, "mail", &c.match)) == 1; got != c.fits {
				t.Errorf("it fits: %v", got)
			}
		})
	}
}

func TestWhatCannotBeLookedForFailsTheTest(t *testing.T) {
	pool := newPool(t)
	for name, match := range map[string]*shimtest.Match{
		"encode the payload": {Payload: func() {}},
		"look for jobs":      {Schema: "elsewhere"},
	} {
		r := &recorder{}
		shimtest.RequireNotEnqueued(r, begin(t, pool), "mail", match)
		if !strings.HasPrefix(r.failure, name) {
			t.Errorf("it said %q, want something about %q", r.failure, name)
		}
	}
}

func TestTransactionsOfDatabaseSQLAreLookedIntoToo(t *testing.T) {
	db, err := sql.Open("pgx", pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := client.WithSQL(tx).Add(t.Context(), "mail", nil, nil); err != nil {
		t.Fatal(err)
	}
	shimtest.RequireEnqueuedSQL(t, tx, "mail", nil)
	shimtest.RequireNotEnqueuedSQL(t, tx, "letter", nil)
	if jobs := shimtest.EnqueuedSQL(t, tx, "mail", nil); len(jobs) != 1 {
		t.Errorf("found %v", jobs)
	}
}
