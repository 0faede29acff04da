package subject

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// recentSize is the number of recent jobs that a process remembers: more than any contender runs at once.
const recentSize = 4096

// A Subject is the measured process.
type Subject struct {
	Order

	out   sync.Mutex // guards lines
	lines *json.Encoder

	executions atomic.Int64
	first      atomic.Int64
	firstCPU   atomic.Int64
	counts     []atomic.Uint32 // by id
	recent     [recentSize]atomic.Int64

	begin context.CancelFunc
	stop  context.CancelFunc
	adds  chan [2]int // the number of jobs, and the number per call
}

// A Program is the implementation of a contender.
type Program struct {
	// Version is the version of the contender.
	Version string

	// Work runs jobs until ctx ends, or with Once until none is left. Its handlers call [Subject.Execute].
	Work func(ctx context.Context, s *Subject) error

	// Add opens a client. The function that it returns adds n jobs in one call and returns the id of the first.
	Add func(ctx context.Context, s *Subject) (add func(n int) (int64, error), err error)
}

// Main is the main function of a process. It returns the exit code.
func (p Program) Main(args []string, stdin io.Reader, stdout io.Writer) int {
	s := &Subject{lines: json.NewEncoder(stdout), adds: make(chan [2]int, 1)}
	if err := p.run(s, args, stdin); err != nil {
		s.send(Message{Error: err.Error()})
		return 1
	}
	s.send(Message{Stopped: true})
	return 0
}

func (p Program) run(s *Subject, args []string, stdin io.Reader) error {
	if len(args) != 1 {
		return errors.New("want one argument, the order")
	}
	if err := json.Unmarshal([]byte(args[0]), &s.Order); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	s.counts = make([]atomic.Uint32, s.Jobs)
	for i := range s.counts {
		s.counts[i].Store(0) // allocates the memory before the measurement
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	begun, begin := context.WithCancel(ctx)
	s.begin, s.stop = begin, stop
	go s.listen(stdin)

	var add func(int) (int64, error)
	if s.Do == Add {
		var err error
		if add, err = p.Add(ctx, s); err != nil {
			return err
		}
	}
	s.send(Message{Ready: p.Version})
	<-begun.Done()
	if ctx.Err() != nil {
		return nil
	}
	if s.Do == Add {
		return s.addJobs(ctx, add)
	}
	if err := p.Work(ctx, s); err != nil {
		return err
	}
	return s.writeCounts()
}

// listen executes the commands from stdin.
func (s *Subject) listen(stdin io.Reader) {
	lines := bufio.NewScanner(stdin)
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "go":
			s.begin()
		case "status":
			s.send(Message{Status: s.status()})
		case "recent":
			s.send(Message{Recent: s.recentJobs()})
		case "add":
			var jobs, call int
			if _, err := fmt.Sscan(rest, &jobs, &call); err != nil {
				s.send(Message{Error: fmt.Sprintf("read %q: %v", lines.Text(), err)})
				continue
			}
			s.adds <- [2]int{jobs, call}
		case "stop":
			s.stop()
		}
	}
	os.Exit(3) // the benchmark has ended
}

// addJobs executes the commands to add jobs.
func (s *Subject) addJobs(ctx context.Context, add func(int) (int64, error)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case wanted := <-s.adds:
			jobs, call := wanted[0], wanted[1]
			done := Added{Begin: Now()}
			for added := 0; added < jobs; added += call {
				id, err := add(min(call, jobs-added))
				if err != nil {
					return fmt.Errorf("add jobs: %w", err)
				}
				if added == 0 {
					done.ID = id
				}
			}
			done.End = Now()
			s.send(Message{Added: &done})
		}
	}
}

// errWanted is the error of attempts that have to fail.
var errWanted = errors.New("this attempt has to fail")

// Execute is the handler of a job: it counts the execution and does what the order demands. attempt counts from 1.
func (s *Subject) Execute(id int64, attempt int) error {
	if s.TellStarts {
		s.send(Message{Start: &Start{ID: id, At: Now()}})
	}
	n := s.executions.Add(1)
	if n == 1 {
		s.firstCPU.Store(cpu())
		s.first.Store(Now())
	}
	if id < 1 || id > int64(len(s.counts)) {
		s.send(Message{Error: fmt.Sprintf("there should be no job %d", id)})
		return nil
	}
	s.counts[id-1].Add(1)
	s.recent[n%recentSize].Store(id)
	if s.SleepMillis > 0 {
		time.Sleep(time.Duration(s.SleepMillis) * time.Millisecond)
	}
	if attempt <= s.Failures {
		return errWanted
	}
	return nil
}

func (s *Subject) status() *Status {
	return &Status{Executions: s.executions.Load(), First: s.first.Load(), FirstCPU: s.firstCPU.Load(), CPU: cpu()}
}

func (s *Subject) recentJobs() []int64 {
	jobs := []int64{}
	for i := range s.recent {
		if id := s.recent[i].Load(); id != 0 {
			jobs = append(jobs, id)
		}
	}
	return jobs
}

// writeCounts writes the number of executions of each job.
func (s *Subject) writeCounts() error {
	if s.Counts == "" {
		return nil
	}
	bytes := make([]byte, 0, 4*len(s.counts))
	for i := range s.counts {
		bytes = binary.LittleEndian.AppendUint32(bytes, s.counts[i].Load())
	}
	if err := os.WriteFile(s.Counts, bytes, 0o600); err != nil {
		return fmt.Errorf("write what was executed: %w", err)
	}
	return nil
}

func (s *Subject) send(m Message) {
	s.out.Lock()
	defer s.out.Unlock()
	if err := s.lines.Encode(m); err != nil {
		os.Exit(3) // the benchmark has ended
	}
}
