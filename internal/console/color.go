package console

import (
	"errors"
	"slices"
	"strings"

	"github.com/gwsql/gw/pkg/gwui"
)

// Color is the color of the header, as the value of a flag.
type Color string

// String returns the color.
func (c *Color) String() string { return string(*c) }

// Type returns the name of such a value.
func (c *Color) Type() string { return "color" }

// Set sets the color.
func (c *Color) Set(text string) error {
	if !slices.Contains(gwui.Colors(), text) {
		return errors.New("must be one of " + strings.Join(gwui.Colors(), ", "))
	}
	*c = Color(text)
	return nil
}
