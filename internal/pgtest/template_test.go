package pgtest

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// Test processes that start at once race for it; here they are sessions, which is what an advisory lock tells apart.
func TestATemplateWantedByManyAtOnceIsMadeOnce(t *testing.T) {
	server := os.Getenv(serverVariable)
	name := "gw_test_template_" + strings.ToLower(rand.Text())
	t.Cleanup(func() {
		err := withAdmin(server, func(ctx context.Context, admin *pgx.Conn) error { return drop(ctx, admin, name) })
		if err != nil {
			t.Error(err)
		}
	})
	var sessions errgroup.Group
	for range 4 {
		sessions.Go(func() error {
			return withAdmin(server, func(ctx context.Context, admin *pgx.Conn) error {
				return ensureTemplate(ctx,
					admin, name)
			})
		})
	}
	if err := sessions.Wait(); err != nil {
		t.Error(err)
	}
}

func TestAChangedFileMeansAnotherTemplate(t *testing.T) {
	names := map[string]bool{}
	for _, files := range []fstest.MapFS{
		{"a.sql": {Data: []byte("select 1")}},
		{"a.sql": {Data: []byte("select 2")}},
		{"b.sql": {Data: []byte("select 2")}},
	} {
		name, err := templateName(files)
		if err != nil {
			t.Fatal(err)
		}
		names[name] = true
	}
	if len(names) != 3 {
		t.Errorf("want three names, got %v", names)
	}
}
