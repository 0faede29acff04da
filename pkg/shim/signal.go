package shim

// signal triggers a loop. Signals that arrive before the loop handles one are merged.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (s signal) set() {
	select {
	case s <- struct{}{}:
	default:
	}
}
