// Command receive receives the jobs send_invoice over HTTP.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("port", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, http.HandlerFunc(receive)))
}

func isSigned(secret string, body []byte, signature string) bool {
	at, code, _ := strings.Cut(strings.TrimPrefix(signature, "t="), ",v1=")
	given, err := hex.DecodeString(code)
	seconds, atErr := strconv.ParseInt(at, 10, 64)
	if err != nil || atErr != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	expected := hmac.New(sha256.New, []byte(secret))
	expected.Write([]byte(at + "."))
	expected.Write(body)
	return hmac.Equal(given, expected.Sum(nil))
}

func receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || !isSigned(os.Getenv("GW_SECRET"), body, r.Header.Get("Gw-Signature")) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var invoice struct{ Order int64 }
	if err := json.Unmarshal(body, &invoice); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Println("invoice", invoice.Order, r.Header.Get("Idempotency-Key"))
}
