package task

import "os"

// pipes are the pipes of a program that is going to start: the ends that it gets, and the worker's.
type pipes struct {
	theirs, ours []*os.File
	err          error // why one of them could not be made
}

// open makes a pipe from which the program reads, or to which it writes.
func (p *pipes) open(isInput bool) (theirs, ours *os.File) {
	if p.err != nil {
		return nil, nil
	}
	theirs, ours, p.err = os.Pipe()
	if !isInput {
		theirs, ours = ours, theirs
	}
	p.theirs, p.ours = append(p.theirs, theirs), append(p.ours, ours)
	return theirs, ours
}

// close closes the worker's ends. They may be closed already.
func (p *pipes) close() {
	for _, end := range p.ours {
		_ = end.Close()
	}
}
