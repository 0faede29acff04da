package docs_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestTheServiceOfTheTourRefusesWhatIsNotSigned(t *testing.T) {
	port := freePort(t)
	for _, block := range blocks(t, "tour.md") {
		if block.language == "python" {
			serve := newTerminal(t, t.TempDir(), append(os.Environ(), "RECEIPT_SECRET="+tourSecret))
			serve.enter("python3 -c '" + strings.ReplaceAll(block.code, tourPort, port) + "'")
			serve.see("ready", func(line string) bool { return line == "ready" })
		}
	}
	now := time.Now().Unix()
	for name, c := range map[string]struct {
		signature string
		at        int64
		want      int
	}{
		"signed":            {sign(tourSecret, now), now, http.StatusNoContent},
		"by another secret": {sign("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz", now), now, http.StatusUnauthorized},
		"an hour ago":       {sign(tourSecret, now-3600), now - 3600, http.StatusUnauthorized},
		"not signed":        {"", now, http.StatusUnauthorized},
		"with nothing":      {"v1,", now, http.StatusUnauthorized},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:"+port,
			strings.NewReader(order))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("webhook-id", orderID)
		request.Header.Set("webhook-timestamp", strconv.FormatInt(c.at, 10))
		request.Header.Set("webhook-signature", c.signature)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != c.want {
			t.Errorf("%s: it answers %d, want %d", name, answer.StatusCode, c.want)
		}
	}
}

const (
	tourSecret = "whsec_Y2hhbmdlLW1lLWNoYW5nZS1tZS1jaGFuZ2UtbWUtY2hhbmdlLW1l"
	order      = `{"order": 1}`
	orderID    = "graphile_worker/1/0/send_receipt"
)

// sign returns the header webhook-signature of an order.
func sign(secret string, at int64) string {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	code := hmac.New(sha256.New, key)
	fmt.Fprintf(code, "%s.%d.%s", orderID, at, order)
	return "v1," + base64.StdEncoding.EncodeToString(code.Sum(nil))
}
