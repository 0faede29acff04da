package interleave

import (
	"fmt"
	"slices"
	"strings"
)

// saveStep is save_step.
type saveStep struct {
	holder
	name, result string
}

func (c saveStep) sql() string {
	return fmt.Sprintf("select graphile_worker.save_step(%s, %d, %s, %s, %s)",
		literal(c.worker), c.ids[0], c.lease(), literal(c.name), literal(c.result))
}

func (c saveStep) apply(s *state, e env) answer {
	held := c.jobs(s, e)
	if len(held) == 0 {
		return answer{code: "GWWLL"}
	}
	return answer{rows: []string{held[0].save(c.name, c.result)}}
}

// save adds a step unless there is one of this name, and returns the result of the step. Steps are words, as the tables
// are read.
func (j *job) save(name, result string) string {
	steps := strings.Fields(j.Steps)
	for _, step := range steps {
		if found, ok := strings.CutPrefix(step, name+"="); ok {
			return found
		}
	}
	steps = append(steps, name+"="+result)
	slices.Sort(steps)
	j.Steps = strings.Join(steps, " ")
	return result
}
