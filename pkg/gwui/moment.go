package gwui

import (
	"encoding/json"
	"time"
)

// moment is a time, as JSON has it from the database.
type moment struct {
	time.Time
	text string // what is no time for Go, such as infinity; empty if Time is one, or null
}

func (m *moment) UnmarshalJSON(data []byte) error {
	*m = moment{}
	if string(data) == "null" {
		return nil
	}
	if err := json.Unmarshal(data, &m.text); err != nil {
		return err
	}
	if t, err := time.Parse(time.RFC3339, m.text); err == nil {
		*m = moment{Time: t}
	}
	return nil
}

// IsNull reports whether there is no time.
func (m moment) IsNull() bool { return m.text == "" && m.IsZero() }

// since returns how long ago the time was; 0 if it was not, or is no time.
func (m moment) since(now time.Time) time.Duration {
	if m.IsZero() {
		return 0
	}
	return max(0, now.Sub(m.Time))
}
