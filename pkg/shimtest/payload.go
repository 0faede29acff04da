package shimtest

import (
	"bytes"
	"encoding/json"
	"math/big"
	"slices"
)

// decode keeps numbers as text, so that large ones compare correctly.
func decode(text []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

// holds reports whether a payload contains the expected one: of objects, nested ones included, at least the expected
// members; other values must be equal.
func holds(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		for name, value := range want {
			member, there := object[name]
			ok = ok && there && holds(member, value)
		}
		return ok
	case []any:
		array, ok := got.([]any)
		return ok && slices.EqualFunc(array, want, holds)
	case json.Number:
		number, ok := got.(json.Number)
		return ok && equal(number, want)
	}
	return got == want
}

func equal(a, b json.Number) bool {
	x, okX := new(big.Rat).SetString(a.String())
	y, okY := new(big.Rat).SetString(b.String())
	if !okX || !okY {
		return a == b
	}
	return x.Cmp(y) == 0
}
