package crontab

import (
	"math"
	"time"
)

// The limits of the database. Graphile Worker accepts more in a crontab, and then schedules nothing at all when such an
// item is due.
const (
	maxNameLength    = 128 // of tasks, queues and identifiers
	maxPatternLength = 1000
	maxJobKeyLength  = 512
	maxMaxAttempts   = math.MaxInt16
	minPriority      = math.MinInt16
	maxPriority      = math.MaxInt16
	maxFill          = math.MaxInt32 * time.Second // before PostgreSQL 15, an interval cannot have more seconds
)
