package gwui

import (
	"html/template"
	"strings"
	"testing"
	"time"
)

func TestDurationsHaveTwoUnitsFromAnHourOn(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 59 * time.Second: "59 s", time.Minute: "1 min", time.Hour - 1: "59 min", time.Hour: "1 h", 97 * time.Minute: "1 h 37 min",
		3*time.Hour - time.Minute: "2 h 59 min", 48 * time.Hour: "2 d", 75 * time.Hour: "3 d 3 h", 400 * 24 * time.Hour: "400 d",
	} {
		if got := lasting(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

func TestIntervalsAreReadable(t *testing.T) {
	for text, want := range map[string]string{"00:00:30": "30 s", "01:30:00": "1 h 30 min", "7 days": "7 days", "1 day 02:00:00": "1 day 02:00:00", "00:00:00.5": "00:00:00.5"} {
		if got := interval(text); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}

func TestOnlyLongWordsOfATextMayBeBroken(t *testing.T) {
	for text, want := range map[string]template.HTML{
		"well-known <b>":                     "well-known &lt;b&gt;",
		"at https://api.example.com/v1/a ok": "at https://<wbr>api.<wbr>example.<wbr>com/<wbr>v1/<wbr>a ok",
		strings.Repeat("x", 30):              template.HTML(strings.Repeat("x", 30)),
	} {
		if got := breakable(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestAPanelInWhichOnlyTimePassesIsNotSentAgain(t *testing.T) {
	mark := func(at, since, text string) string {
		return fragment{HTML: template.HTML(`<time datetime="` + at + `" title="` + at + `">` + since + `</time>` + text)}.Mark()
	}
	was := mark("10:00", "2 s ago", "a")
	if mark("10:00", "3 s ago", "a") != was {
		t.Error("a panel with another relative time is another one")
	}
	if mark("10:01", "2 s ago", "a") == was || mark("10:00", "2 s ago", "b") == was {
		t.Error("a panel with another time or text is the same")
	}
}

func TestADocumentIsColoredAndElseUnchanged(t *testing.T) {
	got := highlighted(`{"a<b": "x \" y", "n": [-1.5e3, true, null]}`)
	want := `{<span class="k">&#34;a&lt;b&#34;</span>: <span class="s">&#34;x \&#34; y&#34;</span>, <span class="k">&#34;n&#34;</span>: ` +
		`[<span class="v">-1.5e3</span>, <span class="v">true</span>, <span class="v">null</span>]}`
	if string(got) != want {
		t.Errorf("it is %s, want %s", got, want)
	}
}

func TestSettingsInBytesHaveAUnit(t *testing.T) {
	size := setting{Meaning: "the maximum size of a payload in bytes"}
	for value, want := range map[string]string{"67108864": "64 MiB", "1536": "1536 B", "2048": "2 KiB", "": ""} {
		if got := size.Size(value); got != want {
			t.Errorf("%s is %q, want %q", value, got, want)
		}
	}
	if got := (setting{Meaning: "how long"}).Size("1024"); got != "" {
		t.Errorf("a time is %q", got)
	}
}

func TestNamesAreWholeAndLongOnesBreakAfterPunctuation(t *testing.T) {
	long := strings.Repeat("tenant", 7)
	for text, want := range map[string]template.HTML{
		"send_email":                      "send_email",
		long + "/<b>:" + long:             template.HTML(long + "/&lt;<wbr>b&gt;:<wbr>" + long),
		strings.Repeat("Überweisung ", 9): template.HTML(strings.Repeat("Überweisung ", 9)),
	} {
		if got := name(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
