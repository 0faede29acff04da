// Command mutants changes the functions of a claim and of what ends, limits and recovers jobs, one mistake at a time,
// and runs tests against each mutant until one fails:
//
//	go run ./tests/go/testserver -- go run ./tests/go/mutants [-sample 60] [-only 'REGEXP'] [-effort 1]
//
// The tests are pgTAP files that call the changed function, then those of tests/go/engine, then, at -effort 3, those of
// other packages. A test finds a mutant if it fails twice. A mutant that they do not find must be in survivors.txt, with
// a reason. The program exits with 1 if fewer than -least percent are found or explained, if a mutant of that table is
// found, or if an entry of it names no mutant. The functions must be those of the migrations: run make snapshot after a
// change.
package main

import (
	"bufio"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/gwsql/gw/sql"
)

//go:embed survivors.txt
var survivors string

func main() {
	sample := flag.Int("sample", 0, "how `many` mutants to draw; 0: all")
	only := flag.String("only", "", "a `regexp` of file:line: function: rule: changed line")
	seed := flag.Uint64("seed", 0, "the `seed` of the sample; 0 draws one")
	parallel := flag.Int("parallel", 2, "how `many` mutants are tested at once")
	effort := flag.Int("effort", 2, "1: some pgTAP files that call it and seconds of tests/go/engine; 2: all of both; 3: other packages, too")
	least := flag.Float64("least", 100, "how many `percent` must be found or explained")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *sample, *only, *seed, *parallel, *effort, *least); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

func run(ctx context.Context, sample int, only string, seed uint64, parallel int, effort int, least float64) error {
	reasons, err := reasonsOf(survivors)
	if err != nil {
		return err
	}
	all, err := mutants(sql.FS)
	if err != nil {
		return err
	}
	unmet := map[string]bool{}
	for key := range reasons {
		unmet[key] = true
	}
	for _, m := range all {
		delete(unmet, m.key())
	}
	chosen, err := choose(all, sample, only, seed)
	if err != nil {
		return err
	}
	s, err := newSuite(ctx, effort)
	if err != nil {
		return err
	}
	defer s.close()
	var mu sync.Mutex
	found, explained, wrong, done := 0, 0, 0, 0
	tell := func(m *mutant, by string, took time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		done++
		reason, listed := reasons[m.key()]
		text := "survived, which survivors.txt does not explain"
		switch {
		case by != "" && listed:
			found, wrong, text = found+1, wrong+1, "found by "+by+", but survivors.txt says: "+reason
		case by != "":
			found, text = found+1, "found by "+by
		case listed:
			explained, text = explained+1, "survived: "+reason
		}
		fmt.Printf("%d/%d %s\n    %s (%.1f s)\n", done, len(chosen), m, text, took.Seconds())
	}
	queue := make(chan *mutant)
	errs := make(chan error, parallel)
	var group sync.WaitGroup
	for range parallel {
		group.Go(func() {
			for m := range queue {
				begin := time.Now()
				by, err := s.test(ctx, m)
				if err != nil {
					errs <- fmt.Errorf("%s: %w", m, err)
					return
				}
				tell(m, by, time.Since(begin))
			}
		})
	}
	for _, m := range chosen {
		select {
		case queue <- m:
			continue
		case err = <-errs:
		case <-ctx.Done():
			err = ctx.Err()
		}
		break
	}
	close(queue)
	group.Wait()
	select {
	case err = <-errs:
	default:
	}
	fmt.Printf("%d mutants: %d found (%.1f %%), %d survivors explained, %d not\n",
		done, found, 100*float64(found)/float64(max(1, done)), explained, done-found-explained)
	if err != nil {
		return err
	}
	for key := range unmet {
		wrong++
		fmt.Printf("survivors.txt explains what is no mutant any more: %s\n", key)
	}
	if wrong > 0 || float64(found+explained) < least/100*float64(done) {
		return fmt.Errorf("%d explanations are wrong, and %d survivors have none", wrong, done-found-explained)
	}
	return nil
}

// choose returns the mutants to test.
func choose(all []*mutant, sample int, only string, seed uint64) (chosen []*mutant, err error) {
	matches, err := regexp.Compile(only)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if matches.MatchString(m.String()) {
			chosen = append(chosen, m)
		}
	}
	if sample > 0 && sample < len(chosen) {
		if seed == 0 {
			seed = 1 + rand.Uint64N(1_000_000_000)
		}
		fmt.Printf("%d of %d mutants: -sample %d -seed %d\n", sample, len(chosen), sample, seed)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(chosen), func(a, b int) {
			chosen[a], chosen[b] = chosen[b],
				chosen[a]
		})
		chosen = chosen[:sample]
	}
	return chosen, nil
}

// reasonsOf reads the table of survivors: a line with a mutant's key, then an indented one with the reason why no test
// finds it.
func reasonsOf(table string) (map[string]string, error) {
	reasons, key := map[string]string{}, ""
	for lines := bufio.NewScanner(strings.NewReader(table)); lines.Scan(); {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "#") || line == "":
		case !strings.HasPrefix(line, " ") && key == "":
			key = line
		case strings.HasPrefix(line, " ") && key != "":
			reasons[key], key = strings.TrimSpace(line), ""
		default:
			return nil, fmt.Errorf("survivors.txt: %q: a mutant and its reason take a line each", line)
		}
	}
	return reasons, nil
}
