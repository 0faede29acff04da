package gwui

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// term is a word of the search box with a name: name:value, or name:"value with spaces".
var term = regexp.MustCompile(`(?:^|\s)(state|task|queue|key|error|worker|payload\.[^\s:]+):("(?:[^"]*)"|\S+)`)

// findPage leads from the search box to what it names: the id of a job; terms, each of which is a condition; or the beginning of
// a key.
func findPage(_ context.Context, _ *Console, q *request) (*view, error) {
	text := strings.TrimSpace(q.query.Get("q"))
	if id, err := strconv.ParseInt(text, 10, 64); err == nil && id > 0 {
		return nil, redirectError{fmt.Sprintf("jobs/%d", id)}
	}
	values, err := findValues(text)
	if err != nil {
		return nil, err
	}
	return nil, redirectError{"jobs?" + values.Encode()}
}

// findValues returns the conditions of a list of jobs that a text means.
func findValues(text string) (url.Values, error) {
	values := make(url.Values)
	for _, found := range term.FindAllStringSubmatch(text, -1) {
		name, value := found[1], strings.Trim(found[2], `"`)
		switch path, isPayload := strings.CutPrefix(name, "payload."); {
		case isPayload:
			name, value = "payload", path+":"+value
		case name == "error":
			name = "errorpart"
		}
		if values.Has(name) {
			return nil, statusError{http.StatusBadRequest, fmt.Sprintf("There are two conditions for %s.", found[1])}
		}
		values.Set(name, value)
	}
	rest := strings.TrimSpace(term.ReplaceAllString(text, ""))
	if rest != "" && len(values) > 0 {
		return nil, statusError{http.StatusBadRequest, fmt.Sprintf("%q is no condition. These are: state, task, queue, key, error, worker and "+
			"payload.FIELD, each before a colon and a value, in quotation marks if it has spaces.", rest)}
	}
	if rest != "" {
		values.Set("keyprefix", rest)
	}
	return values, nil
}
