package gwui

import "time"

// SetReadTimeout changes how long the statement of a panel may take. On a busy machine any takes long.
func (c *Console) SetReadTimeout(timeout time.Duration) { c.store.timeout = timeout }
