package main

import (
	"encoding/json"
	"time"
)

// moment is a time in the JSON of the database.
type moment struct {
	time.Time
	text string // a value that time.Time cannot hold, such as infinity; otherwise empty
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

// isNull reports whether the value is null.
func (m moment) isNull() bool { return m.text == "" && m.IsZero() }
