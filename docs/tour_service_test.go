package docs_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

func TestTheServiceOfTheTourRefusesWhatIsNotSigned(t *testing.T) {
	port := freePort(t)
	for _, block := range blocks(t, "tour.md") {
		if block.language == "python" {
			serve := newTerminal(t, t.TempDir(), append(os.Environ(), "RECEIPT_SECRET=top"))
			serve.enter("python3 -c '" + strings.ReplaceAll(block.code, tourPort, port) + "'")
			serve.see("ready", func(line string) bool { return line == "ready" })
		}
	}
	now := time.Now().Unix()
	for signature, want := range map[string]int{
		sign("top", now):      http.StatusNoContent,
		sign("other", now):    http.StatusUnauthorized,
		sign("top", now-3600): http.StatusUnauthorized,
		"":                    http.StatusUnauthorized,
		"t=,v1=":              http.StatusUnauthorized,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:"+port, strings.NewReader(order))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Gw-Signature", signature)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("signed %q it answers %d, want %d", signature, answer.StatusCode, want)
		}
	}
}

const order = `{"order": 1}`

// sign returns the header Gw-Signature of an order.
func sign(secret string, at int64) string {
	code := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(code, "%d.%s", at, order)
	return fmt.Sprintf("t=%d,v1=%x", at, code.Sum(nil))
}
