package storable_test

import (
	"errors"
	"testing"

	"github.com/gwsql/gw/internal/storable"
)

func TestATextHasEscapesForWhatAnEncodingLacks(t *testing.T) {
	const text = "a\x00é€\xff😀"
	for encoding, want := range map[string]string{
		"UTF8": "aé€\uFFFD😀", "": "aé€\uFFFD😀", "SQL_ASCII": "aé€\uFFFD😀", "LATIN1": `aé\u20ac\ufffd\U0001f600`,
		"LATIN9": `aé€\ufffd\U0001f600`, "WIN1252": `aé€\ufffd\U0001f600`, "EUC_JP": `a\u00e9\u20ac\ufffd\U0001f600`,
	} {
		if got := storable.In(encoding, text); got != want {
			t.Errorf("%s: %q, want %q", encoding, got, want)
		}
	}
}

func TestJSONHasEscapesWhereAnEncodingMayLackCharacters(t *testing.T) {
	for encoding, want := range map[string]string{"UTF8": `{"é":"😀\u0000"}`,
		"LATIN1": `{"\u00e9":"\ud83d\ude00\u0000"}`} {
		if got := storable.JSON(encoding, `{"é":"😀\u0000"}`); got != want {
			t.Errorf("%s: %s, want %s", encoding, got, want)
		}
	}
}

func TestTheEncodingIsAskedForOnlyIfItMatters(t *testing.T) {
	fails := errors.New("no answer")
	args, err := storable.Args([]any{1, storable.Arg("plain"), storable.Arg(nil), storable.Text("\x00"), "é"},
		func() (string, error) { return "", fails })
	if err != nil || args[1] != "plain" || args[2] != nil || args[3] != nil || args[4] != "é" {
		t.Errorf("%v, %v", args, err)
	}
	if _, err := storable.Args([]any{storable.Text("é")}, func() (string, error) { return "", fails }); !errors.Is(err,
		fails) {
		t.Errorf("the error is %v", err)
	}
}
