package pgtemp

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestTheFirstSourceThatIsThereIsTaken(t *testing.T) {
	want := new(Server)
	got, err := startFirst(t.Context(), Options{}, []source{
		{"first", answer(nil, unavailable("absent"))},
		{"second", answer(want, nil)},
		{"third", answer(new(Server), nil)},
	})
	if err != nil || got != want {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestASourceThatFailsIsReportedAndNotReplaced(t *testing.T) {
	broken := errors.New("disk full")
	_, err := startFirst(t.Context(), Options{}, []source{
		{"first", answer(nil, broken)},
		{"second", answer(new(Server), nil)},
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "first") {
		t.Errorf("got %v", err)
	}
}

func TestWithoutAnySourceTheErrorSaysWhyAndWhatToDo(t *testing.T) {
	_, err := startFirst(t.Context(), Options{}, []source{
		{"first", answer(nil, unavailable("not here"))},
		{"second", answer(nil, unavailable("not there"))},
	})
	for _, want := range []string{"first: not here", "second: not there", "install"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in %v", want, err)
		}
	}
}

func answer(server *Server, err error) func(context.Context, Options) (*Server, error) {
	return func(context.Context, Options) (*Server, error) { return server, err }
}
