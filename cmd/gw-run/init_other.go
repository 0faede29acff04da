//go:build !linux

package main

import "io"

// runAsInit does nothing: containers run on Linux.
func runAsInit([]string, io.Writer) (code int, isInit bool) { return 0, false }
