package subject

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// conversation runs a program's process within the test.
type conversation struct {
	t     *testing.T
	tell  *io.PipeWriter
	lines *bufio.Scanner
	code  chan int
}

func converse(t *testing.T, p Program, order Order) *conversation {
	t.Helper()
	argument, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	stdin, tell := io.Pipe() // never closed: that would end the test
	answers, stdout := io.Pipe()
	c := &conversation{t: t, tell: tell, lines: bufio.NewScanner(answers), code: make(chan int, 1)}
	go func() { c.code <- p.Main([]string{string(argument)}, stdin, stdout) }()
	return c
}

func (c *conversation) say(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.tell, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *conversation) hear() (m Message) {
	c.t.Helper()
	c.lines.Scan()
	if err := json.Unmarshal(c.lines.Bytes(), &m); err != nil {
		c.t.Fatal(err)
	}
	return m
}

func TestAProcessWorksCountsAndStops(t *testing.T) {
	counts := filepath.Join(t.TempDir(), "counts")
	var failed []bool
	worked := make(chan struct{})
	program := Program{Version: "1.2", Work: func(ctx context.Context, s *Subject) error {
		for _, e := range []struct {
			id      int64
			attempt int
		}{{2, 1}, {1, 1}, {2, 2}} {
			failed = append(failed, s.Execute(e.id, e.attempt) != nil)
		}
		close(worked)
		<-ctx.Done()
		return nil
	}}
	c := converse(t, program, Order{Do: Work, Jobs: 3, Failures: 1, TellStarts: true, Counts: counts})
	if m := c.hear(); m.Ready != "1.2" {
		t.Fatalf("it begins with %+v", m)
	}
	before := Now()
	c.say("go")
	for _, want := range []int64{2, 1, 2} {
		m := c.hear()
		if m.Start == nil || m.Start.ID != want || m.Start.At < before || m.Start.At > Now() {
			t.Errorf("the message is %+v, want the start of job %d", m, want)
		}
	}
	<-worked
	c.say("status")
	if s := c.hear().Status; s == nil || s.Executions != 3 || s.First < before || s.CPU < s.FirstCPU {
		t.Errorf("the status is %+v", s)
	}
	c.say("recent")
	if m := c.hear(); len(m.Recent) != 3 || m.Recent[0] != 2 || m.Recent[1] != 1 {
		t.Errorf("the last jobs are %v", m.Recent)
	}
	c.say("stop")
	if m := c.hear(); !m.Stopped {
		t.Errorf("it ends with %+v", m)
	}
	if code := <-c.code; code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	if failed[0] != true || failed[1] != true || failed[2] != false {
		t.Errorf("the attempts failed: %v, want only first ones", failed)
	}
	content, err := os.ReadFile(counts)
	if err != nil || string(content) != "\x01\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00" {
		t.Errorf("the counts are %x: %v", content, err)
	}
}

func TestAProcessRefusesAJobThatShouldNotBe(t *testing.T) {
	program := Program{Version: "1", Work: func(_ context.Context, s *Subject) error { return s.Execute(4, 1) }}
	c := converse(t, program, Order{Do: Work, Jobs: 3})
	c.hear()
	c.say("go")
	if m := c.hear(); m.Error != "there should be no job 4" {
		t.Errorf("it says %+v", m)
	}
}

func TestAProcessAddsAsManyJobsAsItIsTold(t *testing.T) {
	var calls []int
	program := Program{Version: "1", Add: func(context.Context, *Subject) (func(int) (int64, error), error) {
		return func(n int) (int64, error) {
			calls = append(calls, n)
			if len(calls) == 4 {
				return 0, errors.New("full")
			}
			return int64(10 * len(calls)), nil
		}, nil
	}}
	c := converse(t, program, Order{Do: Add})
	c.hear()
	c.say("go")
	c.say("add 25 10")
	added := c.hear().Added
	if added == nil || added.ID != 10 || added.Begin == 0 || added.End < added.Begin {
		t.Errorf("it added %+v", added)
	}
	if len(calls) != 3 || calls[0] != 10 || calls[2] != 5 {
		t.Errorf("the calls were for %v jobs", calls)
	}
	c.say("add 1 1")
	if m := c.hear(); m.Error != "add jobs: full" {
		t.Errorf("it says %+v", m)
	}
	if code := <-c.code; code != 1 {
		t.Errorf("the exit code is %d", code)
	}
}
