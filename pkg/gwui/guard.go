package gwui

import (
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
)

// policy is the Content-Security-Policy of every answer: it allows only the console's own files, nothing inline, and no text
// that becomes markup except by the Trusted Types policy of the console's script.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'; trusted-types gw; require-trusted-types-for 'script'"

// guard sets the headers of every answer, and refuses requests of other sites and for other hosts.
func (c *Console) guard(next http.Handler) http.Handler {
	sameSite := http.NewCrossOriginProtection().Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if !c.isServed(r.Host) {
			http.Error(w, "This console is not served under this host name.", http.StatusMisdirectedRequest)
			return
		}
		if r.URL.Path == "" { // mounted at a path without its final slash
			h.Set("Location", "./"+path.Base(r.RequestURI)+"/")
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		sameSite.ServeHTTP(w, r)
	})
}

// isServed reports whether the console accepts this value of the header Host.
func (c *Console) isServed(host string) bool {
	if len(c.cfg.Hosts) == 0 {
		return true
	}
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(strings.ToLower(strings.TrimSuffix(name, ".")), "[]")
	return slices.ContainsFunc(c.cfg.Hosts, func(served string) bool {
		served = strings.Trim(strings.ToLower(served), "[]")
		return served == name || served == strings.ToLower(host)
	})
}
