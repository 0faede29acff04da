package inspect

import (
	"encoding/json"
	"time"
)

// Moment is a time in the JSON of the database.
type Moment struct {
	time.Time
	Text string // a value that time.Time cannot hold, such as infinity; otherwise empty
}

// UnmarshalJSON reads a time or null.
func (m *Moment) UnmarshalJSON(data []byte) error {
	*m = Moment{}
	if string(data) == "null" {
		return nil
	}
	if err := json.Unmarshal(data, &m.Text); err != nil {
		return err
	}
	if t, err := time.Parse(time.RFC3339, m.Text); err == nil {
		*m = Moment{Time: t}
	}
	return nil
}

// IsNull reports whether the value is null.
func (m Moment) IsNull() bool { return m.Text == "" && m.IsZero() }

// Show formats the time, or returns the text of a value that is none.
func (m Moment) Show(format func(time.Time) string) string {
	if m.IsNull() || m.Text != "" {
		return m.Text
	}
	return format(m.Time)
}

// Since returns how long ago the time was; 0 if it is later than now, null or no time for Go.
func (m Moment) Since(now time.Time) time.Duration {
	if m.IsZero() {
		return 0
	}
	return max(0, now.Sub(m.Time))
}
