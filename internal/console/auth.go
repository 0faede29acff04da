package console

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"

	"golang.org/x/crypto/bcrypt"

	"github.com/gwsql/gw/pkg/gwui"
)

// errUnknown is the error of a request without a user name.
var errUnknown = errors.New("the request has no user name")

// byHeader authorizes the user whom a proxy names in a header.
func byHeader(name string) func(*http.Request) (gwui.Viewer, error) {
	return func(r *http.Request) (gwui.Viewer, error) {
		user := r.Header.Get(name)
		if user == "" {
			return gwui.Viewer{}, errUnknown
		}
		return gwui.Viewer{Name: user}, nil
	}
}

// passwords are the password hashes of the users. Hashing takes a tenth of a second, so a keyed digest of each password
// that was correct is kept.
type passwords struct {
	hashes map[string][]byte
	key    []byte

	mu    sync.Mutex
	right map[string][]byte // digests by name
}

// readPasswords reads a file of htpasswd -B.
func readPasswords(path string) (*passwords, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read --auth-file: %w", err)
	}
	p := &passwords{hashes: make(map[string][]byte), right: make(map[string][]byte), key: []byte(rand.Text())}
	for i, line := range bytes.Split(content, []byte("\n")) {
		text := strings.TrimSpace(string(line))
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		name, hash, ok := strings.Cut(text, ":")
		if _, err := bcrypt.Cost([]byte(hash)); !ok || name == "" || err != nil {
			return nil, fmt.Errorf("read --auth-file: %s:%d is not a name and a bcrypt hash, as htpasswd -nB NAME prints them", path, i+1)
		}
		p.hashes[name] = []byte(hash)
	}
	if len(p.hashes) == 0 {
		return nil, fmt.Errorf("read --auth-file: %s contains no names", path)
	}
	return p, nil
}

// isRight reports whether a password is that of a name. It takes as long for a name that is not known.
func (p *passwords) isRight(name, password string) bool {
	hash, known := p.hashes[name]
	digest := hmac.New(sha256.New, p.key)
	digest.Write([]byte(password))
	sum := digest.Sum(nil)
	p.mu.Lock()
	right := p.right[name]
	p.mu.Unlock()
	if known && right != nil && hmac.Equal(right, sum) {
		return true
	}
	if !known {
		for _, hash = range p.hashes {
			break
		}
	}
	if bcrypt.CompareHashAndPassword(hash, []byte(password)) != nil || !known {
		return false
	}
	p.mu.Lock()
	p.right[name] = sum
	p.mu.Unlock()
	return true
}

// ask passes on requests with a correct password, and asks for one otherwise.
func (p *passwords) ask(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, password, ok := r.BasicAuth()
		if !ok || !p.isRight(name, password) {
			w.Header().Set("WWW-Authenticate", `Basic realm="gw", charset="UTF-8"`)
			http.Error(w, "A name and a password are required.", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (p *passwords) viewer(r *http.Request) (gwui.Viewer, error) {
	name, _, _ := r.BasicAuth()
	return gwui.Viewer{Name: name}, nil
}
