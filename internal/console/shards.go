package console

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/guard"
	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/seconds"
	"github.com/gwsql/gw/internal/terminal"
	"github.com/gwsql/gw/pkg/gwui"
)

const (
	numbersTime  = 2 * time.Second // for the numbers of a shard
	numbersFresh = 2 * time.Second // how long they are kept, however many browsers show them
)

// Shard is a shard with a pool of connections to its database.
type Shard struct {
	Name string
	Pool *pgxpool.Pool
}

// ServeShards serves the consoles of shards at /s/NAME/, and an index of them. The options have been checked.
func ServeShards(shards []Shard, o Options) (*Server, error) {
	return serve(o, func(cfg gwui.Config) (http.Handler, []*gwui.Console, error) {
		mux := http.NewServeMux()
		index := &index{cfg: cfg}
		var consoles []*gwui.Console
		for _, of := range shards {
			own := cfg
			own.Name, own.Links = of.Name, links(shards)
			console, err := gwui.New(of.Pool, own)
			if err != nil {
				return nil, nil, fmt.Errorf("shard %s: %w", of.Name, err)
			}
			consoles = append(consoles, console)
			index.shards = append(index.shards, &indexed{Shard: of, schema: o.Schema})
			mux.Handle("/s/"+of.Name+"/", http.StripPrefix("/s/"+of.Name, console))
		}
		mux.Handle("GET /{$}", guard.Pages(cfg.Hosts, index))
		return mux, consoles, nil
	})
}

// links returns the links from the console of a shard to the index and to the consoles of all shards.
func links(shards []Shard) []gwui.Link {
	all := []gwui.Link{{Name: "all", URL: "../../"}}
	for _, of := range shards {
		all = append(all, gwui.Link{Name: of.Name, URL: "../" + of.Name + "/"})
	}
	return all
}

//go:embed shards.html
var indexText string

var indexPage = template.Must(template.New("").Funcs(template.FuncMap{
	"plain":   terminal.Printable,
	"lasting": func(s float64) string { return terminal.Duration(seconds.Duration(s)) },
}).Parse(indexText))

// index is the page about all shards.
type index struct {
	cfg    gwui.Config
	shards []*indexed
}

func (x *index) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var viewer gwui.Viewer
	if x.cfg.Authorize != nil {
		var err error
		if viewer, err = x.cfg.Authorize(r); err != nil {
			http.Error(w, "You may not see this page: "+err.Error()+".", http.StatusForbidden)
			return
		}
	}
	rows := make([]indexRow, len(x.shards))
	var all sync.WaitGroup
	for i, of := range x.shards {
		all.Go(func() { rows[i] = of.row(r.Context()) })
	}
	all.Wait()
	var page bytes.Buffer
	err := indexPage.Execute(&page, map[string]any{"Shards": rows, "Schema": x.cfg.Schema, "Viewer": viewer.Name, "ReadOnly": x.cfg.ReadOnly})
	if err != nil {
		x.cfg.Logger.Error("index of shards cannot be written", "error", err)
		http.Error(w, "This page cannot be shown.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = page.WriteTo(w) // fails only if the client has left
}

// indexRow is a shard on the index.
type indexRow struct {
	Name string
	inspect.Stats
	Problem string // why there are no numbers
}

// indexed is a shard of the index, with its last numbers.
type indexed struct {
	Shard
	schema string

	mu   sync.Mutex // held while they are read, so that browsers wait for one query
	last indexRow
	at   time.Time
}

// row returns the numbers of the shard, or why there are none.
func (s *indexed) row(ctx context.Context) indexRow {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.at) < numbersFresh {
		return s.last
	}
	// A browser that leaves must not spoil the numbers for the others.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), numbersTime)
	defer cancel()
	stats, err := s.read(ctx)
	s.last = indexRow{Name: s.Name, Stats: stats}
	if err != nil {
		s.last.Problem = err.Error()
	}
	s.at = time.Now()
	return s.last
}

func (s *indexed) read(ctx context.Context) (inspect.Stats, error) {
	conn, err := s.Pool.Acquire(ctx)
	if err != nil {
		return inspect.Stats{}, err
	}
	defer conn.Release()
	answer, err := inspect.Ask(ctx, conn.Conn(), s.schema, `select s.* from S.queue_stats() as s`)
	if err != nil {
		return inspect.Stats{}, err
	}
	found, err := inspect.Decode[inspect.Stats](answer.Rows)
	if err != nil || len(found) == 0 {
		return inspect.Stats{}, err
	}
	return found[0], nil
}
