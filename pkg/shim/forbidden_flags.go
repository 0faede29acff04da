package shim

import (
	"context"
	"fmt"
)

// forbiddenFlags are the flags whose jobs are left: a list, or what a function says.
type forbiddenFlags struct {
	list []string
	fn   func(context.Context) ([]string, error)
}

// ask returns the flags for the next claim, nil for none.
func (f forbiddenFlags) ask(ctx context.Context) (flags []string, err error) {
	if f.fn == nil {
		return f.list, nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err = recovered(func() error {
		flags, err = f.fn(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("ask for forbidden flags: %w", err)
	}
	return flags, nil
}
