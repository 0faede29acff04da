package gwui

import "net/http"

// authorize returns the user who makes a request.
func (c *Console) authorize(r *http.Request) (Viewer, error) {
	if c.cfg.Authorize == nil {
		return Viewer{}, nil
	}
	return c.cfg.Authorize(r)
}
