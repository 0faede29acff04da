package gwui

import (
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"strings"
	"time"

	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/seconds"
	"github.com/gwsql/gw/internal/terminal"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static/*
var staticFiles embed.FS

// parseTemplates returns the templates of all pages.
func parseTemplates() (*template.Template, error) {
	functions := template.FuncMap{
		"ago":       relative,
		"at":        absolute,
		"clock":     clock,
		"lasting":   terminal.Duration,
		"elapsed":   terminal.ElapsedSeconds,
		"seconds":   func(s float64) string { return terminal.Duration(seconds.Duration(s)) },
		"count":     count,
		"thousands": thousands,
		"plain":     printable,
		"lines":     printableLines,
		"short":     func(text string, most int) string { return printable(terminal.Short(text, most)) },
		"plural":    func(n any, what string) string { return plural(reflect.ValueOf(n).Int(), what) },
		"query":     query,
		"number":    func(n int) string { return thousands(int64(n)) },
		"states":    func() []string { return jobStates },
		"starts":    starts,
		"pausing":   newPausing,
		"changing":  changing,
	}
	return template.New("").Funcs(functions).ParseFS(templateFiles, "templates/*.html")
}

// relative formats a time relative to now.
func relative(m inspect.Moment, now time.Time) string {
	switch {
	case m.IsNull():
		return "never"
	case m.Text != "":
		return m.Text
	}
	return terminal.Relative(m.Time, now)
}

// absolute formats a time as date and time.
func absolute(m inspect.Moment) string {
	if m.IsNull() || m.Text != "" {
		return m.Text
	}
	return clock(m.Time)
}

// clock formats a time in UTC.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// count formats a number of jobs, with a sign if it is an estimate.
func count(jobs int64, isEstimate bool) string {
	if isEstimate {
		return "~" + thousands(jobs)
	}
	return thousands(jobs)
}

func plural[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(int64(n)) + " " + what + "s"
}

// printable escapes characters that are invisible, or that change the order of others.
func printable(text string) string { return terminal.Printable(text) }

// printableLines does the same for a text of several lines.
func printableLines(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		parts := strings.Split(line, "\t")
		for j, part := range parts {
			parts[j] = printable(part)
		}
		lines[i] = strings.Join(parts, "\t")
	}
	return strings.Join(lines, "\n")
}

// query returns names and values as the query of a URL, without those that are empty.
func query(pairs ...any) (template.URL, error) {
	if len(pairs)%2 != 0 {
		return "", fmt.Errorf("query of %d values", len(pairs))
	}
	values := make(url.Values)
	for i := 0; i < len(pairs); i += 2 {
		if value := fmt.Sprint(pairs[i+1]); value != "" {
			values.Set(fmt.Sprint(pairs[i]), value)
		}
	}
	return template.URL(values.Encode()), nil
}

// serveStatic serves a file of the console. Browsers may keep it for a while: it changes with the program only.
func serveStatic(w http.ResponseWriter, r *http.Request) {
	name := "static/" + path.Base(r.PathValue("file"))
	types := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
	content, err := staticFiles.ReadFile(name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", types[path.Ext(name)])
	w.Header().Set("Cache-Control", "private, max-age=300")
	_, _ = w.Write(content)
}
