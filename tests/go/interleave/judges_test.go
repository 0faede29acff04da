package interleave

// newJudges returns the judges of a driver.
func newJudges() []judge { return []judge{&modelJudge{second: &serialJudge{}}} }
