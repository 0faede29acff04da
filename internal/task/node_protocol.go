package task

import (
	_ "embed" // for the bridge
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/gwsql/gw/pkg/shim"
)

// nodeBridge is the program that runs in Node.js. Its header describes the protocol.
//
//go:embed node_bridge.mjs
var nodeBridge []byte

// maxNodeLine is the maximum length of a line of the bridge, which shortens its texts and refuses results accordingly.
const maxNodeLine = maxResult + 1<<20

// NodeSetup is the settings of the helpers of all tasks.
type NodeSetup struct {
	// Schema is the schema of the queue, quoted.
	Schema string `json:"schema"`
	// Database is the connection to the database of the queue.
	Database NodeDatabase `json:"database"`
	// MaxConnections is the maximum number of connections of each process.
	MaxConnections int `json:"max"`
}

// NodeDatabase is a connection in the form of the npm package pg.
type NodeDatabase struct {
	Host            string   `json:"host"`
	Port            uint16   `json:"port"`
	User            string   `json:"user"`
	Password        string   `json:"password"`
	Database        string   `json:"database"`
	ApplicationName string   `json:"application_name"`
	Options         string   `json:"options,omitempty"`
	TLS             *NodeTLS `json:"tls"`
}

// NodeTLS is the encryption of a connection.
type NodeTLS struct {
	Optional bool   `json:"optional"` // connect without encryption if the server does not support it
	Verify   bool   `json:"verify"`   // verify the server's certificate
	Host     bool   `json:"host"`     // verify the host in the certificate, too
	CA       string `json:"ca"`       // file with the authorities to trust; empty for those that Node.js trusts
	Cert     string `json:"cert,omitempty"`
	Key      string `json:"key,omitempty"`
}

// nodeJob is the job in helpers.job. Times are in ISO 8601.
type nodeJob struct {
	ID             string          `json:"id"` // the npm package pg reads a bigint as a string
	TaskIdentifier string          `json:"task_identifier"`
	Payload        json.RawMessage `json:"payload"`
	QueueName      *string         `json:"queue_name"`
	Priority       int             `json:"priority"`
	RunAt          *string         `json:"run_at"`
	Attempts       int             `json:"attempts"`
	MaxAttempts    int             `json:"max_attempts"`
	LastError      *string         `json:"last_error"`
	CreatedAt      *string         `json:"created_at"`
	Key            *string         `json:"key"`
	Revision       int             `json:"revision"`
	LockedAt       *string         `json:"locked_at"`
	LockedBy       *string         `json:"locked_by"`
	Flags          map[string]bool `json:"flags"`
}

func newNodeJob(job *shim.Job) nodeJob {
	j := nodeJob{
		ID: fmt.Sprint(job.ID), TaskIdentifier: job.TaskIdentifier, Payload: job.Payload,
		QueueName: textOrNull(job.QueueName),
		Priority:  job.Priority, RunAt: timeOrNull(job.RunAt), Attempts: job.Attempts, MaxAttempts: job.MaxAttempts,
		LastError: textOrNull(job.LastError), CreatedAt: timeOrNull(job.CreatedAt), Key: textOrNull(job.Key),
		Revision: job.Revision, LockedAt: timeOrNull(job.ClaimedAt()), LockedBy: textOrNull(job.WorkerID()),
	}
	if len(job.Flags) > 0 {
		j.Flags = make(map[string]bool)
	}
	for _, flag := range job.Flags {
		j.Flags[flag] = true
	}
	return j
}

// nodeMessage is a message of the bridge. The first field that is set determines its kind.
type nodeMessage struct {
	Ready  bool    `json:"ready"`
	Loaded *string `json:"loaded"` // a task whose module was imported
	Done   int     `json:"done"`   // a call that has ended
	Heard  int     `json:"heard"`  // a call whose abort the bridge has read
	Log    string  `json:"log"`    // a level
	Print  string  `json:"print"`  // stdout or stderr
	Retire string  `json:"retire"` // why the process must get no more jobs
	Exit   *int    `json:"exit"`   // the argument of a call of process.exit

	Call   int               `json:"call"`
	Error  *string           `json:"error"`
	Stack  string            `json:"stack"`
	Failed []nodeElement     `json:"failed"`
	Result json.RawMessage   `json:"result"`
	Text   string            `json:"text"`
	Scope  map[string]string `json:"scope"`
	Meta   string            `json:"meta"`
}

// nodeElement is a failed element of a batch.
type nodeElement struct {
	Index   int
	Message string
}

// UnmarshalJSON reads [index, message].
func (e *nodeElement) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&e.Index, &e.Message})
}

// outcome returns the error to end the job with, nil for success, after it has set the result of the job.
func (m *nodeMessage) outcome(job *shim.Job) error {
	switch {
	case len(m.Failed) > 0:
		var elements []json.RawMessage
		if err := json.Unmarshal(job.Payload, &elements); err != nil {
			return fmt.Errorf("read the payload: %w", err)
		}
		errs := make([]error, len(elements))
		for _, failed := range m.Failed {
			if failed.Index >= 0 && failed.Index < len(errs) {
				errs[failed.Index] = errors.New(failed.Message)
			}
		}
		return shim.Batch(errs)
	case m.Error != nil:
		return errors.New(storable(*m.Error))
	case len(m.Result) > 0:
		return job.SetResult(m.Result)
	}
	return nil
}

// nodeLevels maps the levels of loggers in Node.js, and the streams of printed lines, to levels of slog.
var nodeLevels = map[string]slog.Level{
	"error": slog.LevelError, "warning": slog.LevelWarn, "info": slog.LevelInfo, "debug": slog.LevelDebug,
	"stdout": slog.LevelInfo, "stderr": slog.LevelWarn,
}
