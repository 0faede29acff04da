package task

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

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
