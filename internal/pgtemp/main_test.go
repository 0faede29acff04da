package pgtemp

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// TestMain lets the test binary play other processes too: GW_PGTEMP_ROLE names the part.
func TestMain(m *testing.M) {
	switch role := os.Getenv("GW_PGTEMP_ROLE"); role {
	case "":
		os.Exit(m.Run())
	case "starter":
		os.Exit(report(Start(context.Background(), Options{LocalOnly: true})))
	default:
		panic("unknown role " + role)
	}
}

// report prints the server's URL, then keeps the server until stdin ends.
func report(server *Server, err error) int {
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(server.URL("postgres"))
	_, _ = os.Stdin.Read(make([]byte, 1))
	if err := server.Stop(); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}
