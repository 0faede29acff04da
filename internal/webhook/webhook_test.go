package webhook_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/webhook"
)

// The expected values are from the tests of the reference libraries.
func TestARequestIsSignedAsTheReferenceLibrariesSignIt(t *testing.T) {
	secret := parse(t, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	other := parse(t, encode(64))
	header := make(http.Header)
	webhook.Sign(header, []webhook.Secret{secret, other}, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0),
		[]byte(`{"test": 2432232314}`))
	signatures := strings.Split(header.Get("webhook-signature"), " ")
	if len(signatures) != 2 || signatures[0] != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" ||
		signatures[1] == signatures[0] {
		t.Errorf("the signatures are %q", signatures)
	}
	if id, at := header.Get("webhook-id"), header.Get("webhook-timestamp"); id != "msg_p5jXN8AQM9LWM0D4loKWxJek" ||
		at != "1614265330" {
		t.Errorf("the id is %q, the time %q", id, at)
	}
}

func TestASecretThatSomeLibraryWouldNotTakeIsRefusedWithAHintAndNotShown(t *testing.T) {
	for _, text := range []string{encode(24), encode(25), encode(32), encode(64)} {
		parse(t, text)
	}
	for name, text := range map[string]string{
		"empty":            "",
		"a word":           "top-secret",
		"no prefix":        strings.TrimPrefix(encode(32), "whsec_"),
		"another prefix":   "whsk_" + strings.TrimPrefix(encode(32), "whsec_"),
		"prefix only":      "whsec_",
		"too short":        encode(23),
		"too long":         encode(65),
		"hexadecimal":      "whsec_" + strings.Repeat("0f", 31),
		"no padding":       strings.TrimRight(encode(32), "="),
		"of URLs":          "whsec_" + strings.Repeat("-_", 16),
		"line end":         encode(32) + "\n",
		"bits that are no": encode(32)[:len(encode(32))-2] + "9=",
		"space":            " " + encode(32),
		"two":              encode(32) + " " + encode(32),
	} {
		_, err := webhook.ParseSecret(text)
		if err == nil || !strings.Contains(err.Error(), "openssl rand -base64 32") || text != "" &&
			strings.Contains(err.Error(), text) && name != "prefix only" {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func parse(t *testing.T, text string) webhook.Secret {
	t.Helper()
	secret, err := webhook.ParseSecret(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return secret
}

// encode returns a secret with a key of n bytes.
func encode(n int) string {
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", n)))
}
