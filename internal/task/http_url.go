package task

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/gwsql/gw/pkg/shim"
)

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// urlTemplate is a URL with placeholders in its path and query.
type urlTemplate struct {
	path  string   // everything before the query
	query string   // with its question mark; empty without a query
	fixed *url.URL // the URL if it has no placeholders, otherwise nil
}

// parseURLTemplate parses the URL of a task. Placeholders are only allowed where a job cannot change the server. If the
// URL holds a secret, errors contain no part of it.
func parseURLTemplate(text string, holdsSecret bool) (urlTemplate, error) {
	t := urlTemplate{path: text}
	if i := strings.IndexByte(text, '?'); i >= 0 {
		t.path, t.query = text[:i], text[i:]
	}
	var problems []error
	refuse := func(format string, args ...any) { problems = append(problems, fmt.Errorf("url: "+format, args...)) }
	for _, name := range placeholder.FindAllString(text, -1) {
		if name != "{task}" && name != "{job_id}" {
			if holdsSecret {
				name = "a name in braces"
			}
			refuse("%s is not a placeholder, only {task} and {job_id} are", name)
		}
	}
	here, err := t.fill("here", "1")
	there, otherErr := t.fill("there", "2")
	if err := errors.Join(err, otherErr); err != nil {
		if err = reason(err); holdsSecret {
			err = errors.New("is not a URL")
		}
		refuse("%w", err)
		return t, errors.Join(problems...)
	}
	switch {
	case here.Scheme != "http" && here.Scheme != "https":
		refuse("must begin with http:// or https://")
	case here.Host != there.Host || here.User.String() != there.User.String():
		refuse("{task} and {job_id} may stand in the path and in the query, not before them")
	case here.Hostname() == "":
		refuse("has no host")
	}
	if strings.Contains(text, "#") {
		refuse("has a fragment (#), which is never sent to a server")
	}
	if !placeholder.MatchString(text) {
		t.fixed = here
	}
	return t, errors.Join(problems...)
}

func (t *urlTemplate) expand(job *shim.Job) (*url.URL, error) {
	if t.fixed != nil {
		target := *t.fixed
		return &target, nil
	}
	target, err := t.fill(job.TaskIdentifier, strconv.FormatInt(job.ID, 10))
	if err != nil {
		return nil, fmt.Errorf("make the URL: %w", reason(err))
	}
	return target, nil
}

func (t *urlTemplate) fill(task, jobID string) (*url.URL, error) {
	segments := strings.Split(task, "/")
	for i, segment := range segments {
		segments[i] = url.PathEscape(segment)
	}
	path := strings.NewReplacer("{task}", strings.Join(segments, "/"), "{job_id}", jobID).Replace(t.path)
	query := strings.NewReplacer("{task}", url.QueryEscape(task), "{job_id}", jobID).Replace(t.query)
	return url.Parse(path + query)
}

// reason returns why a URL could not be read, without the URL, which may hold a password.
func reason(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

// shown returns the URL of a job for errors.
func (p *poster) shown(u *url.URL) string {
	if p.Shown != "" {
		return p.Shown
	}
	return shown(u)
}

// shown returns a URL without user, password and query, which must not be stored.
func shown(u *url.URL) string {
	return u.Scheme + "://" + u.Host + u.EscapedPath()
}

// maxRedirects is the maximum number of redirects that one attempt follows.
const maxRedirects = 5

// followSameOrigin follows redirects that keep the method POST (307, 308) and lead to the same scheme, host and port.
// Any other redirect is the answer of the request, with a status that fails the job.
func followSameOrigin(next *http.Request, before []*http.Request) error {
	if next.Method != http.MethodPost || len(before) > maxRedirects || !sameOrigin(next.URL, before[0].URL) {
		return http.ErrUseLastResponse
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// redirected returns the target of a redirect and why it was not followed, "" if the answer is not a redirect.
func (p *poster) redirected(response *http.Response) string {
	to, err := response.Location()
	if err != nil || response.StatusCode/100 != 3 {
		return ""
	}
	why := "there were too many before it"
	switch {
	case response.StatusCode != http.StatusTemporaryRedirect && response.StatusCode != http.StatusPermanentRedirect:
		why = "it would change the POST to a GET"
	case !sameOrigin(to, response.Request.URL):
		why = "it leads to another scheme, host or port"
	}
	where := shown(to)
	if p.Shown != "" {
		where = to.Scheme + "://" + to.Host + "/..."
	}
	return fmt.Sprintf("The redirect to %s was not followed: %s.", where, why)
}
