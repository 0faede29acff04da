package baddays

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

var payloadsFlag = flag.Int("baddays.payloads", 45,
	"how many `payloads` of 1 MB come over a link of 15 MB/s; from 1000 on the time is looked at, and links carry larger ones, too")

const (
	kB = 1 << 10
	mB = 1 << 20
)

// sized are jobs with payloads of one size.
type sized struct{ jobs, bytes int }

// addSized adds jobs in this order, and installs a trigger that counts their claims.
func (f *fleet) addSized(of []sized) (l *load, bytes int64) {
	f.t.Helper()
	f.exec(`create table claimed (job_id bigint)`)
	f.exec(`create function note_claim() returns trigger language plpgsql as $$
		begin
		  insert into public.claimed values (new.id);
		  return null;
		end $$`)
	f.exec(`create trigger note_claim after update of locked_at on graphile_worker._private_jobs
		for each row when (old.locked_at is null and new.locked_at is not null) execute function note_claim()`)
	l = &load{f: f, stop: func() {}}
	n := 0
	for _, s := range of {
		f.exec(`select count(graphile_worker.add_job('work', json_build_object('N', n, 'Pad', repeat('x', $3::integer))))
			from generate_series($1::integer, $2::integer) as n`, n+1, n+s.jobs, s.bytes)
		for range s.jobs {
			n++
			l.acked = append(l.acked, request{n: n})
		}
		bytes += int64(s.jobs * (s.bytes + 200))
	}
	return l, bytes
}

// accountSized waits until all jobs are done, and checks that each has run once, that few were claimed and returned, none of them
// more than twice, and that little was sent twice.
func (f *fleet) accountSized(l *load, network *proxy, bytes int64) {
	f.t.Helper()
	f.awaitEmpty()
	f.account(l)
	// A process that gets no processor time for a while returns its jobs, which the link does not cause.
	const often = `select count(*) from (select from claimed group by job_id having count(*) > 3) as c`
	if jobs := pgtest.Value[int](f.t, f.pool, often); jobs > len(l.acked)/500 {
		f.t.Errorf("%d jobs were claimed more than three times", jobs)
	}
	f.t.Logf("%d MB of %d MB were sent", network.carried()>>20, bytes>>20)
	if carried := network.carried(); carried > bytes*5/4+mB {
		f.t.Errorf("%d MB were sent for %d MB", carried>>20, bytes>>20)
	}
}

func TestPayloadsOfAnySizeArriveOverALinkOfAnySpeed(t *testing.T) {
	for _, c := range []struct {
		rate int
		jobs []sized
	}{
		{mB, []sized{{1000, kB}, {5, 100 * kB}, {1, 2 * mB}, {1, mB}}},
		{15 * mB, []sized{{2000, kB}, {100, 100 * kB}, {20, mB}, {2, 10 * mB}, {100, kB}}},
		{100 * mB, []sized{{2000, kB}, {200, 100 * kB}, {20, mB}, {2, 10 * mB}, {100, kB}}},
	} {
		t.Run(fmt.Sprintf("%d MB a second", c.rate>>20), func(t *testing.T) {
			pgtest.OnOneVersion(t)
			t.Parallel()
			f := newFleet(t, pgtest.Database(t))
			if *payloadsFlag >= 1000 { // the last one takes longer than the timeout of a call that receives no data
				c.jobs = append(c.jobs, sized{2, 10 * mB}, sized{1, 40 * mB})
			}
			l, bytes := f.addSized(c.jobs)
			network, through := newProxy(t, f.url)
			network.narrow(c.rate)
			f.workers(1, through)
			f.accountSized(l, network, bytes)
		})
	}
}

// A persistent program runs jobs so fast that many are claimed at once. After many small payloads a claim must not contain more
// large ones than the link can transfer in time, or than fit into memory.
func TestLargePayloadsAfterManySmallOnesAreWorkedAtTheSpeedOfTheLink(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	f := newFleet(t, pgtest.Database(t))
	const rate = 15 * mB
	payloads := *payloadsFlag
	l, bytes := f.addSized([]sized{{3000, 10}, {payloads, mB}})
	network, through := newProxy(t, f.url)
	network.narrow(rate)
	began := time.Now()
	w := f.startProgram("program", through)
	watch := f.watchMemory([]*worker{w})
	f.accountSized(l, network, bytes)
	took := time.Since(began)
	watch.stop()
	most := slices.Max(watch.samples[0]) >> 10
	t.Logf("%d payloads took %v, the link needs %v; at most %d MB were resident", payloads, took,
		time.Duration(bytes)*time.Second/rate, most)
	if most > 150 {
		t.Errorf("%d MB were resident", most)
	}
	if limit := time.Duration(bytes) * time.Second / rate * 5 / 4; payloads >= 1000 && took > limit {
		t.Errorf("it took %v, more than %v", took, limit)
	}
	w.leave()
}

// startProgram starts a gw-run with 8 children of a persistent program that serves the task "work".
func (f *fleet) startProgram(id, url string) *worker {
	f.t.Helper()
	folder := f.t.TempDir()
	config := fmt.Sprintf("tasks:\n  work:\n    persistent: %q\n", os.Args[0])
	if err := os.WriteFile(filepath.Join(folder, "gw.yaml"), []byte(config), 0o644); err != nil {
		f.t.Fatal(err)
	}
	w := &worker{t: f.t, id: id, cmd: exec.Command(pgtest.Program(f.t, "gw-run"), "-c", url, "--config",
		folder+"/gw.yaml", "-j", "8"), logs: &transcript{}, end: make(chan struct{})}
	w.cmd.Env = append(os.Environ(), programVariable+"="+f.folder+"/notes", idVariable+"="+id)
	w.run()
	return w
}

// programVariable is an environment variable with which the test's binary acts as the persistent program. Its value is the file
// for the notes.
const programVariable = "GW_TEST_BADDAYS_PROGRAM"

// runAsProgram serves the task "work" for gw-run until its input ends, if programVariable is set.
func runAsProgram() (ran bool) {
	path := os.Getenv(programVariable)
	if path == "" {
		return false
	}
	if err := runProgram(path, os.Getenv(idVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

func runProgram(path, id string) error {
	notes, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	for input := bufio.NewReader(os.Stdin); ; {
		line, err := input.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var job struct {
			ID      int64
			Payload payload
		}
		if err := json.Unmarshal(line, &job); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(notes, "start,%d,,,%s\nend,%d,,,%s\n", job.Payload.N, id, job.Payload.N, id)
		fmt.Printf("{\"id\": %d, \"ok\": true}\n", job.ID)
	}
}
