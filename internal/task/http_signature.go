package task

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

// sign returns the header Gw-Signature: the time in seconds since 1970, and under v1 the HMAC-SHA256, in hexadecimal
// digits, of that time, a dot and the body. The time is in it so that a receiver can refuse what was recorded long ago.
func sign(secret string, at time.Time, body []byte) string {
	seconds := strconv.FormatInt(at.Unix(), 10)
	code := hmac.New(sha256.New, []byte(secret))
	code.Write([]byte(seconds + "."))
	code.Write(body)
	return "t=" + seconds + ",v1=" + hex.EncodeToString(code.Sum(nil))
}
