package gwui

import (
	"embed"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/seconds"
	"github.com/gwsql/gw/internal/terminal"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static/*
var staticFiles embed.FS

// parseTemplates returns the templates of all pages, with times in a zone.
func parseTemplates(zone *time.Location) (*template.Template, error) {
	functions := template.FuncMap{
		"ago":       relative,
		"at":        func(m inspect.Moment) string { return absolute(m, zone) },
		"clock":     func(t time.Time) string { return clock(t, zone) },
		"iso":       iso,
		"moment":    func(t time.Time) inspect.Moment { return inspect.Moment{Time: t} },
		"told":      func(p pauseRow, now time.Time) string { return p.told(now, zone) },
		"lasting":   lasting,
		"elapsed":   elapsed,
		"seconds":   func(s float64) string { return lasting(seconds.Duration(s)) },
		"count":     count,
		"thousands": thousands,
		"plain":     printable,
		"breakable": breakable,
		"json":      highlighted,
		"lines":     func(text string) template.HTML { return breakable(printableLines(text)) },
		"short":     short,
		"name":      name,
		"has":       has,
		"words":     func(name string) string { return strings.ReplaceAll(name, "_", " ") },
		"plural":    func(n any, what string) string { return plural(reflect.ValueOf(n).Int(), what) },
		"query":     query,
		"number":    func(n int) string { return thousands(int64(n)) },
		"states":    func() []string { return jobStates },
		"starts":    starts,
		"shares":    shares,
		"mostJobs":  mostJobs,
		"pausing":   pausing,
		"changing":  changing,
		"inside":    func(d panelData, part any) panelData { d.D = part; return d },
	}
	return template.New("").Funcs(functions).ParseFS(templateFiles, "templates/*.html")
}

// share is what part of a bar the jobs in a state have.
type share struct {
	State    string
	X, Width float64 // in percent
}

// shares returns those of each state that has jobs, in a bar for as many jobs. What can be seen at all is one percent.
func shares(c inspect.Counts, most int64) (all []share) {
	x := 0.0
	for _, state := range jobStates {
		if n := c.Of(state); n > 0 {
			width := max(1, 100*float64(n)/float64(most))
			all = append(all, share{state, x, width})
			x += width
		}
	}
	return all
}

// mostJobs returns how many jobs the row with the most jobs has.
func mostJobs(rows any) (most int64) {
	list := reflect.ValueOf(rows)
	for i := range list.Len() {
		c := list.Index(i).FieldByName("Counts").Interface().(inspect.Counts)
		most = max(most, c.Ready+c.Scheduled+c.Running+c.Failed)
	}
	return most
}

// relative formats a time relative to now.
func relative(m inspect.Moment, now time.Time) string {
	switch {
	case m.IsNull():
		return "never"
	case m.Text != "":
		return m.Text
	}
	switch distance := m.Sub(now); {
	case distance >= time.Second:
		return "in " + lasting(distance)
	case distance <= -time.Second:
		return lasting(-distance) + " ago"
	}
	return "now"
}

// lasting formats a duration, rounded down: hours and minutes from an hour on, days and hours from two days on, otherwise
// minutes or seconds.
func lasting(d time.Duration) string {
	two := func(n time.Duration, unit string, rest time.Duration, smaller string) string {
		if rest == 0 {
			return fmt.Sprintf("%d %s", n, unit)
		}
		return fmt.Sprintf("%d %s %d %s", n, unit, rest, smaller)
	}
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return two(d/time.Hour, "h", d%time.Hour/time.Minute, "min")
	case d < 10*24*time.Hour:
		return two(d/(24*time.Hour), "d", d%(24*time.Hour)/time.Hour, "h")
	}
	return fmt.Sprintf("%d d", d/(24*time.Hour))
}

// elapsed formats how many seconds something took, nil as an empty text.
func elapsed(took *float64) string {
	if took != nil && seconds.Duration(*took) >= time.Minute {
		return lasting(seconds.Duration(*took))
	}
	return terminal.ElapsedSeconds(took)
}

// interval formats an interval that PostgreSQL has written.
func interval(text string) string {
	var h, m int
	var s float64
	if _, err := fmt.Sscanf(text, "%d:%d:%f", &h, &m, &s); err != nil || strings.Contains(text, " ") || s != math.Trunc(s) {
		return text
	}
	return lasting(time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second)
}

// absolute formats a time as date and time in a zone.
func absolute(m inspect.Moment, zone *time.Location) string {
	return m.Show(func(t time.Time) string { return clock(t, zone) })
}

func clock(t time.Time, zone *time.Location) string {
	return t.In(zone).Format("2006-01-02 15:04:05 MST")
}

// iso formats a time for programs.
func iso(m inspect.Moment) string {
	return m.Show(func(t time.Time) string { return t.UTC().Format(time.RFC3339) })
}

// count formats a number of jobs, with a sign if it is an estimate.
func count(jobs int64, scale float64) string {
	sign, jobs := inspect.Estimate(jobs, scale)
	return sign + thousands(jobs)
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

// mostTitle is how many characters the title of a text that is cut has.
const mostTitle = 2000

// short returns the beginning of a text, with all of it as its title if it is cut.
func short(text string, most int) template.HTML {
	cut := string(breakable(printable(terminal.Short(text, most))))
	if runes := []rune(text); len(runes) > most || strings.Contains(text, "\n") {
		title := template.HTMLEscapeString(printable(string(runes[:min(len(runes), mostTitle)])))
		return template.HTML(`<span title="` + title + `">` + cut + `</span>`)
	}
	return template.HTML(cut)
}

const (
	mostUnbroken = 28      // characters of a name that stays on one line
	mostName     = 512     // characters of a name that are shown
	mostMarked   = 1 << 16 // bytes of a text in which it is marked where long words may be broken
)

var longWord = regexp.MustCompile(`\S{25,}`)

// breakable returns a text whose long words, such as URLs, may be broken after a punctuation mark.
func breakable(text string) template.HTML {
	if len(text) > mostMarked {
		return template.HTML(template.HTMLEscapeString(text))
	}
	var broken strings.Builder
	at := 0
	for _, word := range longWord.FindAllStringIndex(text, -1) {
		broken.WriteString(template.HTMLEscapeString(text[at:word[0]]))
		broken.WriteString(string(breakAfterMarks(text[word[0]:word[1]])))
		at = word[1]
	}
	broken.WriteString(template.HTMLEscapeString(text[at:]))
	return template.HTML(broken.String())
}

var jsonToken = regexp.MustCompile(`("(?:[^"\\\n]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*`)

// highlighted returns a JSON document with its names, texts and other values marked for colors.
func highlighted(text string) template.HTML {
	text = printableLines(text)
	if len(text) > mostMarked {
		return breakable(text)
	}
	var marked strings.Builder
	at := 0
	for _, token := range jsonToken.FindAllStringSubmatchIndex(text, -1) {
		class, end := "v", token[1]
		if token[2] >= 0 {
			class, end = "s", token[3]
		}
		if token[4] >= 0 {
			class = "k"
		}
		fmt.Fprintf(&marked, `%s<span class="%s">%s</span>`, breakable(text[at:token[0]]), class, breakable(text[token[0]:end]))
		at = end
	}
	marked.WriteString(string(breakable(text[at:])))
	return template.HTML(marked.String())
}

// breakAfterMarks returns a text that may be broken between punctuation marks and what follows.
func breakAfterMarks(text string) template.HTML {
	var broken strings.Builder
	wasMark := false
	for _, r := range text {
		isMark := r < unicode.MaxASCII && (unicode.IsPunct(r) || unicode.IsSymbol(r))
		if wasMark && !isMark && !unicode.IsSpace(r) {
			broken.WriteString("<wbr>")
		}
		broken.WriteString(template.HTMLEscapeString(string(r)))
		wasMark = isMark
	}
	return template.HTML(broken.String())
}

// name returns a name whole. A long one may be broken, but only after a punctuation mark.
func name(text string) template.HTML {
	if utf8.RuneCountInString(text) <= mostUnbroken || utf8.RuneCountInString(text) > mostName || strings.Contains(text, "\n") {
		return short(text, mostName)
	}
	return breakAfterMarks(printable(text))
}

// has reports whether a field of one of the rows has a value. A table leaves out a column without one.
func has(rows any, field string) bool {
	all := reflect.ValueOf(rows)
	for i := range all.Len() {
		if !all.Index(i).FieldByName(field).IsZero() {
			return true
		}
	}
	return false
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
	write(w, r, http.StatusOK, content)
}
