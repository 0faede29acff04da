package console

import (
	"slices"
	"strings"
	"testing"

	"github.com/gwsql/gw/pkg/gwui"
)

func TestALinkIsANameAndAURL(t *testing.T) {
	var links Links
	for _, text := range []string{"eu=https://eu.example.com/?a=b", " us =http://127.0.0.1:9465"} {
		if err := links.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	if want := (Links{{Name: "eu", URL: "https://eu.example.com/?a=b"},
		{Name: "us", URL: "http://127.0.0.1:9465"}}); !slices.Equal(links, want) {
		t.Errorf("the links are %v, want %v", links, want)
	}
}

func TestALinkThatIsNoneIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "must be name=url",
		"https://eu.example.com":      "must be name=url",
		" =https://eu.example.com":    "must be name=url",
		"eu=":                         "URL that begins with http:// or https:// for eu",
		"eu=queue.example.com":        "http:// or https:// for eu",
		"eu=/queue":                   "http:// or https:// for eu",
		"eu=javascript:alert(1)":      "http:// or https:// for eu",
		"eu=https:///":                "http:// or https:// for eu",
		"us=https://eu.example.com":   "two links of the name us",
		"eu=https://us.example.com/x": "the same URL for us and eu",
	} {
		links := Links{gwui.Link{Name: "us", URL: "https://us.example.com/x"}}
		if err := links.Set(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if len(links) != 1 {
			t.Errorf("%q: it is added", text)
		}
	}
}
