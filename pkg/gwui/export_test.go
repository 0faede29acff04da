package gwui

import "time"

const (
	ReadTimeout = readTimeout
	Patience    = patience
)

// SetReadTimeout changes how long the statement of a panel may take. On a busy machine any takes long.
func (c *Console) SetReadTimeout(timeout time.Duration) { c.store.timeout = timeout }

// SetPatience changes how long a page waits for its panels.
func (c *Console) SetPatience(patience time.Duration) { c.patience = patience }

// Forget drops all answers that are kept, so that the next page reads anew.
func (c *Console) Forget() { c.forget() }
