package main

import (
	"testing"

	"github.com/gwsql/gw/internal/clitest"
)

func TestEveryCommandHasADescriptionAndExamples(t *testing.T) {
	c := &command{getenv: func(string) string { return "" }}
	clitest.CheckHelp(t, c.root())
}
