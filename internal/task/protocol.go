package task

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// runAtFormat is ISO 8601 in UTC with milliseconds, the format of times in JavaScript.
const runAtFormat = "2006-01-02T15:04:05.000Z"

func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func timeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC().Format(runAtFormat))
}

// jsonLine returns a message with a payload as a line of JSON.
func jsonLine(message any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(message); err != nil {
		return nil, fmt.Errorf("read the payload: %w", err)
	}
	return b.Bytes(), nil
}

// input returns the stdin of the program. The payload is on one line, so that a shell can read it with read, and
// otherwise as it is stored: large numbers keep all their digits.
func input(payload []byte) (io.Reader, error) {
	var b bytes.Buffer
	b.WriteString(`{"payload":`)
	if err := json.Compact(&b, payload); err != nil {
		return nil, fmt.Errorf("read the payload: %w", err)
	}
	b.WriteByte('}')
	return &b, nil
}

// environment returns the worker's environment with the variables in more and those that describe the job.
func environment(more []string, job *shim.Job) []string {
	const keyVariable = "GRAPHILE_WORKER_JOB_KEY="
	var env []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, keyVariable) { // the worker may itself run as a job
			env = append(env, variable)
		}
	}
	env = append(env, more...)
	env = append(env,
		"GRAPHILE_WORKER_PAYLOAD_FORMAT=json",
		"GRAPHILE_WORKER_TASK_IDENTIFIER="+job.TaskIdentifier,
		"GRAPHILE_WORKER_JOB_ID="+strconv.FormatInt(job.ID, 10),
		"GRAPHILE_WORKER_JOB_ATTEMPTS="+strconv.Itoa(job.Attempts),
		"GRAPHILE_WORKER_JOB_MAX_ATTEMPTS="+strconv.Itoa(job.MaxAttempts),
		"GRAPHILE_WORKER_JOB_PRIORITY="+strconv.Itoa(job.Priority),
		"GRAPHILE_WORKER_JOB_RUN_AT="+job.RunAt.UTC().Format(runAtFormat),
	)
	if id := job.WorkerID(); id != "" {
		env = append(env, "GW_WORKER_ID="+id, "GW_LEASE="+strconv.FormatInt(job.Lease, 10))
	}
	if job.Key != "" {
		env = append(env, keyVariable+job.Key)
	}
	return env
}
