package console

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gwsql/gw/pkg/gwui"
)

// DefaultAddress is the address of the console if none is given.
const DefaultAddress = "127.0.0.1:9465"

// Connections is the maximum number of database connections of a console.
const Connections = 4

// Options set where the console is served, and for whom.
type Options struct {
	Address    string   // as net.Listen takes it; empty for [DefaultAddress]
	Prefix     string   // of the paths, such as /queue; empty for none
	Schema     string   // of the queue
	ReadOnly   bool     // without actions
	AuthFile   string   // names and bcrypt hashes, as htpasswd -B writes them
	Operator   string   // the name of the users in the audit if nobody authenticates them; empty for none
	UserHeader string   // in which a proxy that authenticates users passes their names
	Hosts      []string // further values of the header Host
	Name       string   // of the queue, in the header and the titles; empty for database@host
	Color      Color    // of the header
	Links      Links    // to the consoles of other queues

	Logger *slog.Logger
}

// AddFlags adds the flags for all but the address.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.ReadOnly, "read-only", false, "show the queue, but offer no actions")
	flags.StringVar(&o.AuthFile, "auth-file", "",
		"`file` of the names and passwords of the users, as htpasswd -B writes it")
	flags.StringVar(&o.UserHeader, "user-header", "",
		"`name` of the header in which a proxy that authenticates passes the user's name")
	o.AddNames(flags, "")
	flags.StringVar(&o.Prefix, "prefix", "", "`path` under which a proxy passes requests on unchanged, such as /queue")
	flags.StringSliceVar(&o.Hosts, "host", nil,
		"`name` under which browsers reach the console, beside localhost; may be repeated")
}

// AddNames adds the flags for the name, the color and the links, which begin with prefix.
func (o *Options) AddNames(flags *pflag.FlagSet, prefix string) {
	flags.StringVar(&o.Name, prefix+"name", "",
		"`name` of the queue in the header of the console (default: database@host)")
	flags.Var(&o.Color, prefix+"color", "`color` of the header of the console, such as red for production: "+strings.Join(gwui.Colors(), ", "))
	flags.Var(&o.Links, prefix+"link", "a link in the header to the console of another queue, as `name=url`; may be repeated")
}

// Check returns an error if the options are invalid.
func (o Options) Check() error {
	host, _, err := net.SplitHostPort(o.address())
	if err != nil {
		return fmt.Errorf("the address %q has no port; write %s", o.address(), DefaultAddress)
	}
	if o.Prefix != "" && (!prefixes.MatchString(o.Prefix) || path.Clean(o.Prefix) != o.Prefix) {
		return fmt.Errorf("--prefix is %q, must be a path such as /queue", o.Prefix)
	}
	if o.AuthFile != "" && o.UserHeader != "" {
		return errors.New("--auth-file and --user-header exclude each other")
	}
	if !isLoopback(host) && o.AuthFile == "" && o.UserHeader == "" {
		return fmt.Errorf("other machines can reach the address %q, and could change jobs: give --auth-file, or --user-header "+
			"behind a proxy that authenticates, or a loopback address such as %s", o.address(), DefaultAddress)
	}
	return nil
}

// CheckLoopback returns an error if the options are invalid for a console without a login.
func (o Options) CheckLoopback() error {
	host, _, err := net.SplitHostPort(o.address())
	if err != nil {
		return errors.New("it has no port")
	}
	if !isLoopback(host) {
		return errors.New("other machines can reach it; use gw-run ui, which has authentication")
	}
	return nil
}

// prefixes are the paths that a prefix may be: those that need no escapes.
var prefixes = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

func (o Options) address() string { return cmp.Or(o.Address, DefaultAddress) }

// isLoopback reports whether an address can be reached from this machine only.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

// hosts returns the values of the header Host that are served; nil for all.
func (o Options) hosts() []string {
	host, _, _ := net.SplitHostPort(o.address()) // Check has
	if isLoopback(host) {
		return append([]string{"localhost", "127.0.0.1", "::1", host}, o.Hosts...)
	}
	return o.Hosts
}

// Color is the color of the header, as the value of a flag.
type Color string

// String returns the color.
func (c *Color) String() string { return string(*c) }

// Type returns the name of such a value.
func (c *Color) Type() string { return "color" }

// Set sets the color.
func (c *Color) Set(text string) error {
	if !slices.Contains(gwui.Colors(), text) {
		return errors.New("must be one of " + strings.Join(gwui.Colors(), ", "))
	}
	*c = Color(text)
	return nil
}

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
