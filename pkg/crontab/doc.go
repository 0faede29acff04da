// Package crontab reads the crontabs of Graphile Worker, and creates cron items in Go.
//
// A line of a crontab defines when jobs of a task are added, and their attributes:
//
//	# minute hour day month weekday  task         ?options                {payload}
//	  0      8    *   *     *        send_digest  ?id=morning&fill=1h     {account: 42}
//	  */10   9-17 *   *     1-5      sync_metrics ?tz=Europe/Berlin&max=3
//
// [Parse] reads a text and [Load] a file. Functions named after a schedule create the same items from values:
//
//	item, err := crontab.DailyAt("send_digest", 8, 0, &crontab.Options{ID: "morning", Fill: time.Hour})
//
// [Collect] joins items, texts and files.
//
// An [Item] is data only. The SQL function run_cron, which takes items as JSON, decides which minutes an item matches
// and which of them were missed, and makes sure that no two workers add the same job.
//
// # Grammar
//
// Each of the five fields is a comma-separated list of numbers, ranges such as 9-17, * and */n. */n begins at the
// lowest value: as a day of the month, */2 is 1, 3, 5 and so on. There are no names of months or days, no steps on
// ranges and no @daily. Sunday is 0 or 7. If both the day of the month and the weekday are restricted, a day has to
// match one of them.
//
// The name of a task consists of letters, digits, :, /, _ and -, and begins with a letter or _. The options are id,
// fill, max, queue, jobKey, jobKeyMode and priority; job_key and job_key_mode, the spelling of graphile_worker_rs, are
// accepted as well, and so is our own option tz: the name of a time zone in place of UTC. Options are written as in the
// query of a URL, with %20 for a space. fill is a sum such as 1w2d3h4m5s. The payload is a JSON5 object up to the end
// of the line.
//
// Blank lines, and lines that begin with #, are ignored. There are no comments at the end of a line, except JSON5
// comments inside a payload.
//
// # Errors
//
// One invalid line makes the whole crontab invalid, because a partial schedule is worse than the previous one. The
// [*Error] has every [Problem] of every line, with line and column, in Graphile Worker's own wording.
//
// # Differences from Graphile Worker
//
// Values that could only fail later are refused at once: max outside 1 to 32767, a priority outside -32768 to 32767, a
// task, queue or id of more than 128 characters, a pattern of more than 1000, a job key that is empty, is not UTF-8,
// contains NUL or has more than 512 characters, a fill of more than 68 years, NUL in the payload, and a line that is
// not UTF-8. In a payload, half of a surrogate pair becomes U+FFFD; members are stored sorted by name.
package crontab
