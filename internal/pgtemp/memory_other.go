//go:build !linux

package pgtemp

// InMemory returns nothing: there is no such folder.
func InMemory() string { return "" }
