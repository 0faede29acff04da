// Package webhook signs HTTP requests according to Standard Webhooks (https://www.standardwebhooks.com), so that
// receivers can verify them with a library.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	secretPrefix = "whsec_"
	// The specification's limits on the bytes of a key.
	minKey, maxKey = 24, 64
)

// Secret is the key of a signature.
type Secret struct{ key []byte }

var errSecret = errors.New("must be whsec_ followed by 24 to 64 random bytes in base64; " +
	"make one with: echo whsec_$(openssl rand -base64 32)")

// ParseSecret reads a secret: whsec_ and the base64 of 24 to 64 bytes. The error does not contain the text.
func ParseSecret(text string) (Secret, error) {
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	// Some libraries accept base64 only in its canonical form.
	canonical := base64.StdEncoding.EncodeToString(key) == encoded
	if !ok || err != nil || !canonical || len(key) < minKey || len(key) > maxKey {
		return Secret{}, errSecret
	}
	return Secret{key}, nil
}

// Sign sets the headers webhook-id, webhook-timestamp and webhook-signature of a request, the last one with a signature
// for each secret. The id must not contain a dot, because the signed text is id, time and body joined by dots.
func Sign(header http.Header, secrets []Secret, id string, at time.Time, body []byte) {
	seconds := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		signatures[i] = secret.signature(id, seconds, body)
	}
	header.Set("Webhook-Id", id)
	header.Set("Webhook-Timestamp", seconds)
	header.Set("Webhook-Signature", strings.Join(signatures, " "))
}

// signature returns the signature: "v1," and the HMAC-SHA256 in base64.
func (s Secret) signature(id, seconds string, body []byte) string {
	code := hmac.New(sha256.New, s.key)
	code.Write([]byte(id + "." + seconds + "."))
	code.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(code.Sum(nil))
}
