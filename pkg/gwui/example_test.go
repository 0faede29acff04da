package gwui_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/pkg/gwui"
)

// userOf and isOperator stand for what a program knows of its users.
func userOf(r *http.Request) string { return r.Header.Get("User") }
func isOperator(name string) bool   { return name == "ada" }

// mount serves the console of a queue at /queue/. The caller closes it.
func mount(mux *http.ServeMux, pool *pgxpool.Pool) (*gwui.Console, error) {
	console, err := gwui.New(pool, gwui.Config{
		Authorize: func(r *http.Request) (gwui.Viewer, error) {
			name := userOf(r) // of your program
			if name == "" {
				return gwui.Viewer{}, errors.New("log in first")
			}
			return gwui.Viewer{Name: name, ReadOnly: !isOperator(name)}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	mux.Handle("/queue/", http.StripPrefix("/queue", console))
	return console, nil
}

// A console behind the authentication of a program.
func ExampleNew() {
	pool, err := pgxpool.New(context.Background(), "postgres:///app") // it does not connect yet
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	mux := http.NewServeMux()
	console, err := mount(mux, pool)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer console.Close()
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/queue/help", nil))
	fmt.Println(answer.Code)
	// Output: 403
}
