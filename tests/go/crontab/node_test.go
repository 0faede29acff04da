package crontab

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
)

var (
	countFlag = flag.Int("crontab.count", 10000, "how many `crontabs` to make of each kind")
	seedFlag  = flag.Uint64("crontab.seed", 1, "the `seed` of the crontabs; 0 draws one")
)

func newGenerator(t *testing.T) generator {
	seed := *seedFlag
	for seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	return generator{rand.New(rand.NewPCG(seed, 0))}
}

func TestACrontabIsReadAsByGraphileWorker(t *testing.T) {
	g := newGenerator(t)
	texts := make([]string, *countFlag)
	for i := range texts {
		texts[i] = g.crontab()
	}
	compareMany(t, texts)
}

func TestAPayloadIsReadAsByGraphileWorker(t *testing.T) {
	g := newGenerator(t)
	texts := make([]string, *countFlag)
	for i := range texts {
		texts[i] = "* * * * * task " + g.payload()
	}
	compareMany(t, texts)
}

// compareMany compares the texts, and checks that enough of them are valid and enough are not.
func compareMany(t *testing.T, texts []string) {
	t.Helper()
	readable := compare(t, texts)
	t.Logf("%d of %d were valid", readable, len(texts))
	if readable < len(texts)/5 || readable > len(texts)*4/5 {
		t.Error("too few of the texts are valid, or too few are invalid")
	}
}

func TestOneLongLineIsReadAsByGraphileWorker(t *testing.T) {
	deep := strings.Repeat("[", 1000) + strings.Repeat("]", 1000)
	compare(t, []string{
		"* * * * * task {a: " + deep + "}",
		"* * * * * task {a: '" + strings.Repeat("x", 1<<20) + "'}",
		strings.Repeat("1,", 10000) + "1 * * * * task",
		strings.Repeat("9", 400) + " * * * * task",
		strings.Repeat("9", 23) + "-" + strings.Repeat("9", 24) + " * * * * task",
	})
}
