package interleave

// A call is a statement that a session sends, by a name for people.
type call struct {
	name string
	sql  string
	op   operation // what it means; nil if the model does not know
}

// called returns the call of an operation.
func called(name string, op operation) call { return call{name, op.sql(), op} }

// A transaction is what a session of a world does: its calls, and a commit.
type transaction struct {
	calls     []call
	isolation string // empty for read committed
}

// A world is the rows before the calls, and the transactions that run at once.
type world struct {
	name     string
	setup    string
	sessions []transaction
}

// statements returns what a session sends, up to the end of its transaction.
func (t transaction) statements() []string {
	var sent []string
	for _, c := range t.calls {
		sent = append(sent, c.sql)
	}
	return append(sent, "commit")
}

// begin returns what begins a transaction.
func (t transaction) begin() string {
	if t.isolation == "" {
		return "begin; "
	}
	return "begin isolation level " + t.isolation + "; "
}
