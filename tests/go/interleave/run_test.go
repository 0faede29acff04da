package interleave

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/release"
)

// newJudges returns the judges of a driver.
func newJudges() []judge { return []judge{&modelJudge{second: &serialJudge{}}} }

// A checker runs a world, and returns the findings.
type checker func(d *driver, w world, random *rand.Rand, judges ...judge) ([]*finding, tally, error)

// everyOrder runs a world in every order.
func everyOrder(t *testing.T) checker {
	return func(d *driver, w world, _ *rand.Rand, judges ...judge) ([]*finding, tally, error) {
		return d.check(t.Context(), w, *mostFlag, judges...)
	}
}

// theSeed returns the seed of all tests.
var theSeed = sync.OnceValue(func() uint64 {
	seed := *seedFlag
	for seed == 0 {
		seed = rand.Uint64()
	}
	return seed
})

// seeded returns random numbers for something that has a name.
func seeded(name string) *rand.Rand {
	hash := fnv.New64()
	_, _ = hash.Write([]byte(name))
	return rand.New(rand.NewPCG(theSeed(), hash.Sum64()))
}

// drawn returns as many of these as a test without the time for all tries, by the seed; all if count is 0, and if -run
// names one.
func drawn[T any](t *testing.T, all []T, count int) []T {
	t.Helper()
	if count == 0 || strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return all
	}
	all = slices.Clone(all)
	seeded(t.Name()).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(count, len(all))]
}

// A pass runs worlds: all in as many databases as there are processors, or some in one database.
type pass struct {
	t       *testing.T
	check   checker
	queue   chan world
	began   time.Time
	done    *progress
	grouped sync.WaitGroup
}

// checkAll checks worlds according to the flags.
func checkAll(t *testing.T, worlds []world, check checker) {
	t.Helper()
	checkAllIn(t, worlds, check, newTestDriver)
}

// checkAllIn does the same in databases that a function makes.
func checkAllIn(t *testing.T, worlds []world, check checker, newTestDriver func(testing.TB) *driver) {
	t.Helper()
	if *orderFlag != "" {
		check = followed(t)
	}
	pattern := regexp.MustCompile(*worldFlag)
	worlds = slices.DeleteFunc(slices.Clone(worlds), func(w world) bool { return !pattern.MatchString(w.name) })
	if len(worlds) == 0 {
		return
	}
	drivers := make([]*driver, 1)
	if budget() == 0 {
		drivers = make([]*driver, min(runtime.GOMAXPROCS(0), len(worlds)))
	}
	for n := range drivers {
		drivers[n] = newTestDriver(t)
	}
	worlds = drawn(t, worlds, len(worlds))
	if budget() != 0 {
		changed, calls := changedFunctions(t), make(map[string]int, len(worlds))
		for _, w := range worlds {
			calls[w.name] = drivers[0].callsOf(w, changed)
		}
		slices.SortStableFunc(worlds, func(a, b world) int { return calls[b.name] - calls[a.name] })
	}
	p := &pass{t: t, check: check, queue: make(chan world, len(worlds)), began: time.Now(),
		done: openProgress(t, *doneFlag)}
	for _, w := range worlds {
		if !p.done.has(w) {
			p.queue <- w
		}
	}
	close(p.queue)
	for _, d := range drivers {
		p.grouped.Go(func() { p.work(d) })
	}
	p.grouped.Wait()
	locks := make(lockOrder)
	for _, d := range drivers {
		locks.merge(d.locks)
	}
	if cycle := locks.cycle(); cycle != nil {
		t.Errorf("rows are locked in orders that contradict each other:\n%s", strings.Join(cycle, "\n"))
	}
	t.Logf("%s in %s, -interleave.seed=%d", p.done.did, time.Since(p.began).Round(time.Second), theSeed())
}

func (p *pass) work(d *driver) {
	judges := newJudges()
	ran := 0
	for w := range p.queue {
		if budget() != 0 && ran >= budget() {
			return
		}
		did := p.one(d, w, judges)
		ran += max(did.orders, did.runs/mostRuns)
	}
}

func (p *pass) one(d *driver, w world, judges []judge) tally {
	ctx, began := p.t.Context(), time.Now()
	findings, did, err := p.check(d, w, seeded(w.name), judges...)
	if err != nil {
		p.t.Error(err)
		if err := d.reset(ctx); err != nil {
			p.t.Error(err)
		}
		return did
	}
	sound := true
	for _, f := range findings {
		if *scriptsFlag != "" {
			writeScripts(ctx, p.t, d, f)
		}
		if why := knownWhy(f); why != "" {
			p.t.Logf("%s: known: %s", w.name, why)
			continue
		}
		if err := p.confirm(d, f, judges); err != nil {
			p.t.Logf("%s: order %s: %v", w.name, formatOrder(f.order), err)
			continue
		}
		p.t.Error(f)
		sound = false
	}
	p.t.Logf("%s: %s in %s", w.name, did, time.Since(began).Round(time.Millisecond))
	if err := p.done.note(w, did, sound); err != nil {
		p.t.Error(err)
	}
	return did
}

// confirm runs the order of a finding again if its run took so long that the times in it cannot be told apart, and
// returns an error if that finds nothing.
func (p *pass) confirm(d *driver, f *finding, judges []judge) error {
	const tries = 5
	for range tries {
		if f.outcome.took < backoff(1)-backoff(0) {
			return nil
		}
		findings, _, err := d.again(p.t.Context(), f.world, f.order, judges...)
		if err != nil {
			p.t.Error(err)
			return nil
		}
		if len(findings) == 0 {
			return fmt.Errorf("the machine was slow, and the order ends as it should when it is run again; before it ended so:\n%s", f)
		}
		f = findings[0]
	}
	return nil
}

// followed runs a world in the order of a flag.
func followed(t *testing.T) checker {
	return func(d *driver, w world, _ *rand.Rand, judges ...judge) ([]*finding, tally, error) {
		order, err := parseOrder(*orderFlag)
		if err != nil {
			return nil, tally{}, err
		}
		findings, did, err := d.again(t.Context(), w, order, judges...)
		for _, step := range d.trace {
			t.Log(step)
		}
		return findings, did, err
	}
}

// changedFunctions returns the names of the functions that differ from those of the last release.
func changedFunctions(t *testing.T) set {
	t.Helper()
	const folder = "../../../sql"
	released, err := release.ReadChecksums(folder)
	if err != nil {
		t.Fatal(err)
	}
	snapshots, err := filepath.Glob(folder + "/migrations/snapshots/*/*/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	changed := set{}
	for _, file := range snapshots {
		name := strings.TrimPrefix(filepath.ToSlash(file), folder+"/migrations/")
		if _, ok := released[name]; !ok {
			changed[strings.TrimSuffix(filepath.Base(file), ".sql")] = true
		}
	}
	return changed
}

// callsOf returns how many of these functions a world may call.
func (d *driver) callsOf(w world, functions set) (count int) {
	called := set{}
	for _, t := range w.sessions {
		for _, c := range t.calls {
			for function := range d.prints.callees.of(c.sql) {
				called[function] = true
			}
		}
	}
	for function := range functions {
		if called[function] {
			count++
		}
	}
	return count
}

// writeScripts writes a finding into a folder of its own.
func writeScripts(ctx context.Context, t *testing.T, d *driver, f *finding) {
	t.Helper()
	scripts, err := d.scripts(ctx, f)
	if err != nil {
		t.Error(err)
		return
	}
	dir := filepath.Join(*scriptsFlag, strings.NewReplacer(": ", "-", ", ", "-", " ",
		"_").Replace(f.world.name)+"-"+formatOrder(f.order))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Error(err)
		return
	}
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
	t.Logf("written as scripts: %s", dir)
}
