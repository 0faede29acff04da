package gwui

import (
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"slices"
	"time"
)

// The cookies of the preferences of a browser. They have no path of their own, so browsers send them to this console only, at
// whatever path it is mounted.
const (
	themeCookie = "gw-theme"
	zoneCookie  = "gw-zone"
	cookieTime  = 365 * 24 * time.Hour
)

// themes are the themes that may be chosen instead of that of the system.
func themes() []string { return []string{"light", "dark"} }

// commonZones are offered to choose from; any name of the time zone database may be typed.
func commonZones() []string {
	return []string{
		"UTC", "America/Los_Angeles", "America/Chicago", "America/New_York", "America/Sao_Paulo", "Europe/London", "Europe/Berlin",
		"Europe/Helsinki", "Asia/Dubai", "Asia/Kolkata", "Asia/Singapore", "Asia/Shanghai", "Asia/Tokyo", "Australia/Sydney",
	}
}

// preferences are how a browser shows pages.
type preferences struct {
	theme string // empty for that of the system
	zone  *time.Location
}

// newPreferences returns those of the cookies of a request. Cookies that are invalid count as none.
func newPreferences(r *http.Request) preferences {
	p := preferences{zone: time.UTC}
	if c, err := r.Cookie(themeCookie); err == nil && slices.Contains(themes(), c.Value) {
		p.theme = c.Value
	}
	if c, err := r.Cookie(zoneCookie); err == nil {
		if zone, err := zoneOf(c.Value); err == nil {
			p.zone = zone
		}
	}
	return p
}

// zoneOf returns a time zone of the time zone database; that of the server, Local, is refused.
func zoneOf(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(cmp.Or(name, "UTC"))
	if err != nil || zone == time.Local {
		return nil, statusError{http.StatusBadRequest, fmt.Sprintf("There is no time zone %s; write its name as in Europe/Berlin.", printable(name))}
	}
	return zone, nil
}

// aPage is a page of the console with its query.
var aPage = regexp.MustCompile(`^([a-z0-9]+(/[a-z0-9]+)*)?(\?[^#\s]*)?$`)

// setPreferences sets the cookies, and returns to the page with the form.
func (c *Console) setPreferences(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, mostForm)
	q, err := c.newRequest(r, r.URL.Path, "")
	if err == nil && r.ParseForm() != nil {
		err = errUnreadable
	}
	if err == nil {
		_, err = zoneOf(r.PostForm.Get("zone"))
	}
	if err != nil {
		c.fail(w, r, q, err)
		return
	}
	for name, value := range map[string]string{themeCookie: r.PostForm.Get("theme"), zoneCookie: r.PostForm.Get("zone")} {
		cookie := &http.Cookie{Name: name, Value: value, MaxAge: int(cookieTime.Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode}
		if value == "" {
			cookie.MaxAge = -1
		}
		http.SetCookie(w, cookie)
	}
	back := r.PostForm.Get("back")
	if !aPage.MatchString(back) {
		back = ""
	}
	seeOther(w, r, back)
}

// mostZones is how many time zones have templates of their own at once.
const mostZones = 20

// templatesIn returns the templates whose times are in a zone.
func (c *Console) templatesIn(zone *time.Location) (*template.Template, error) {
	if zone == nil || zone == time.UTC {
		return c.templates, nil
	}
	c.zones.Lock()
	defer c.zones.Unlock()
	if found := c.zones.templates[zone.String()]; found != nil {
		return found, nil
	}
	made, err := parseTemplates(zone)
	if err != nil {
		return nil, err
	}
	if c.zones.templates == nil || len(c.zones.templates) >= mostZones {
		c.zones.templates = make(map[string]*template.Template)
	}
	c.zones.templates[zone.String()] = made
	return made, nil
}
