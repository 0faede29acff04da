// Command receive receives the jobs send_invoice over HTTP.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	webhook, err := standardwebhooks.NewWebhook(os.Getenv("GW_SECRET"))
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("port", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, receive(webhook)))
}

func receive(webhook *standardwebhooks.Webhook) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		id := r.Header.Get("webhook-id")
		if err != nil || webhook.Verify(body, r.Header) != nil || !strings.HasSuffix(id, "/send_invoice") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var invoice struct{ Order int64 }
		if err := json.Unmarshal(body, &invoice); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Println("invoice", invoice.Order, id)
	}
}
