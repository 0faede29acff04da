package gwui_test

import (
	"errors"
	"net/http"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/pkg/gwui"
)

// userOf and isOperator stand for what a program knows of its users.
func userOf(r *http.Request) string     { return r.Header.Get("User") }
func isOperator(name string) bool       { return name == "ada" }
func serveMux(mux *http.ServeMux) error { return http.ListenAndServe("127.0.0.1:8080", mux) }

// A console behind the authentication of a program.
func ExampleNew() {
	_ = func(pool *pgxpool.Pool, mux *http.ServeMux) error {
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
			return err
		}
		defer console.Close()
		mux.Handle("/queue/", http.StripPrefix("/queue", console))
		return serveMux(mux)
	}
}
