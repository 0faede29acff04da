//go:build !linux

package pgtemp

// InMemory returns "", because there is no such folder.
func InMemory() string { return "" }
