package operate

import (
	"strings"
	"testing"
)

// A parameter that nobody knows reaches the server as a setting, which refuses the connection.
func TestAnUnknownParameterOfTheConnectionStringIsNamed(t *testing.T) {
	b := newBench(t)
	sound := b.url
	separator := "?"
	if strings.Contains(sound, "?") {
		separator = "&"
	}
	b.url = sound + separator + "max_connection_age=5"
	b.wantPart(b.run("jobs"), 1, "", "names max_connection_age, which is neither a parameter of the connection nor a setting of the server")
	b.url = sound + separator + "statement_timeout=60000"
	b.wantPart(b.run("jobs"), 0, "", "")
}
