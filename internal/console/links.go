package console

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/gwsql/gw/pkg/gwui"
)

// Links are links to the consoles of other queues, as the value of a flag that may be repeated.
type Links []gwui.Link

// String returns the links as flags have them.
func (l *Links) String() string {
	texts := make([]string, len(*l))
	for i, link := range *l {
		texts[i] = link.Name + "=" + link.URL
	}
	return strings.Join(texts, " ")
}

// Type returns the name of such a value.
func (l *Links) Type() string { return "name=url" }

// Set adds a link, written as name=url.
func (l *Links) Set(text string) error {
	name, address, found := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if !found || name == "" {
		return errors.New("must be name=url, such as eu=https://queue-eu.example.com")
	}
	if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("must have a URL that begins with http:// or https:// for %s", name)
	}
	for _, other := range *l {
		if other.Name == name {
			return fmt.Errorf("must not have two links of the name %s", name)
		}
		if other.URL == address {
			return fmt.Errorf("must not have the same URL for %s and %s", other.Name, name)
		}
	}
	*l = append(slices.Clip(*l), gwui.Link{Name: name, URL: address})
	return nil
}
