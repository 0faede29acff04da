package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestAChartIsXMLWithABarForEachValue(t *testing.T) {
	svg := chart{title: "A <title>", bars: []bar{
		{group: "one", name: "a & b", value: 50, ours: true},
		{group: "one", name: "c", value: 0},
		{group: "two", name: "d", value: 100},
	}}.draw()
	type attributes map[string]string
	var bars []attributes
	var texts []string
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "rect" {
				found := attributes{}
				for _, a := range token.Attr {
					found[a.Name.Local] = a.Value
				}
				bars = append(bars, found)
			}
		case xml.CharData:
			texts = append(texts, strings.TrimSpace(string(token)))
		}
	}
	if len(bars) != 3 {
		t.Fatalf("there are %d bars", len(bars))
	}
	for i, want := range []struct{ class, width string }{{"ours", "205"}, {"other", "1"}, {"other", "410"}} {
		if bars[i]["class"] != want.class || bars[i]["width"] != want.width {
			t.Errorf("bar %d is %v, want %v", i, bars[i], want)
		}
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{"A <title>", "one", "a & b", "50", "two", "100"} {
		if !strings.Contains(all, "\n"+want+"\n") {
			t.Errorf("no text says %q:\n%s", want, all)
		}
	}
}
