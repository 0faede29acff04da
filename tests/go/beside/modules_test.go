package beside

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gwsql/gw/tests/go/nodegw"
)

// addModuleJobs adds jobs for the modules of tests/node/tasks.
const addModuleJobs = `
	select graphile_worker.add_job('look', queue_name => 'other', run_at => '2099-01-01');
	select graphile_worker.add_job(identifier => t.task, payload => t.payload::json, queue_name => t.queue, priority => t.priority,
	                               job_key => t.key, flags => t.flags::text[], max_attempts => t.max_attempts,
	                               run_at => '2026-01-02 03:04:05.678+00')
	  from (values ('hello', '{"name":"Bobby Tables"}', null, null, null, 0, 25),
	               ('look', '{"note":"é \" \\ € \u2028","list":[1,2.5,null,true],"n":12345678901234567890}', 'a queue', 'a key', '{x,y}', -3, 25),
	               ('look', null, null, null, null, 0, 3),
	               ('look', '"text"', null, null, null, 0, 25),
	               ('transfer', '{"amount":1}', null, null, null, 0, 25),
	               ('transfer', '{"amount":2,"refuse":true}', null, null, null, 0, 25),
	               ('transfer', '{"amount":3,"refuse":true}', null, null, null, 0, 1),
	               ('compiled', '{"a":1}', null, null, null, 0, 25),
	               ('mail/welcome', '{"to":"Ada"}', null, null, null, 0, 25),
	               ('batch', '[{"n":1},{"n":2}]', null, null, null, 0, 25),
	               ('batch', '[{"n":3},{"n":4,"fail":"four"},{"n":5},{"n":6,"fail":"six"}]', 'b', 'batch', null, 0, 25),
	               ('batch', '[{"n":7},{"n":8,"fail":"eight"}]', null, null, null, 0, 1),
	               ('batch', '{"n":9}', null, null, null, 0, 25),
	               ('results', '{"return":[1,2]}', null, null, null, 0, 25),
	               ('results', '{"return":{"reject":true}}', null, null, null, 0, 25),
	               ('results', '[{"return":[1]},{"n":2}]', null, null, null, 0, 25),
	               ('results', '[{"return":"no array"},{"n":2}]', null, null, null, 0, 25),
	               ('results', '[{"n":1},{"reject":"text"},{"reject":{"message":"object"}}]', null, null, null, 0, 25),
	               ('fails', '{"kind":"error"}', null, null, null, 0, 25),
	               ('fails', '{"kind":"error"}', null, 'failing', null, 0, 1),
	               ('fails', '{"kind":"empty"}', null, null, null, 0, 25),
	               ('fails', '{"kind":"own"}', null, null, null, 0, 25),
	               ('fails', '{"kind":"object"}', null, null, null, 0, 25),
	               ('fails', '{"kind":"null"}', null, null, null, 0, 25),
	               ('fails', '{"kind":"lines"}', null, null, null, 0, 25),
	               ('fails', '{"kind":"none"}', null, null, null, 0, 25),
	               ('retries', '{}', null, null, null, 0, 25),
	               ('queues', '{}', 'mine', null, null, 0, 25)) as t (task, payload, queue, key, flags, priority, max_attempts)`

// putOff delays the next attempt of failed jobs by ten more days, so that each job has one attempt even in a slow test.
const putOff = `
	create function put_off() returns trigger language plpgsql as $$
	begin
		new.run_at := new.run_at + interval '10 days';
		return new;
	end
	$$;
	create trigger put_off before update of last_error on graphile_worker._private_jobs
		for each row when (new.last_error is distinct from old.last_error) execute function put_off()`

// afterModules selects the remaining jobs. Failed jobs must have the usual delay.
const afterModules = `
	select string_agg(concat_ws(' | ', j.id, t.identifier, j.payload::jsonb, q.queue_name, j.attempts, j.max_attempts, j.key, j.last_error,
	                            j.revision, j.priority, j.flags, j.locked_by,
	                            case when j.last_error is null then j.run_at::text
	                                 when j.run_at - interval '10 days' - exp(j.attempts) * interval '1 second' between now() - interval '10 minutes' and now() then 'backed off' end),
	                  e'\n' order by j.id)
	  from graphile_worker._private_jobs as j
	  join graphile_worker._private_tasks as t on t.id = j.task_id
	  left join graphile_worker._private_job_queues as q on q.id = j.job_queue_id`

// moduleTasks returns the folder of the modules, and the environment in which a gw-run finds the Node.js of the tests.
func moduleTasks(t *testing.T) (folder, path string) {
	t.Helper()
	folder, err := filepath.Abs("../../node/tasks")
	if err != nil {
		t.Fatal(err)
	}
	return folder, "PATH=" + filepath.Dir(nodegw.Node(t)) + string(os.PathListSeparator) + os.Getenv("PATH")
}

func TestAModuleSeesAndCausesTheSameOnBothSides(t *testing.T) {
	t.Parallel()
	tasks, path := moduleTasks(t)
	run := func(work func(q *queue) (stop func())) (seen, jobs string) {
		q := newQueue(t)
		q.exec("create table seen (task text not null, what json not null)")
		q.exec(putOff)
		q.exec(addModuleJobs)
		stop := work(q)
		q.await(`select count(*) = 0 from graphile_worker._private_jobs where attempts = 0 and run_at < now() or locked_at is not null`)
		jobs = value[string](q, afterModules)
		stop()
		return value[string](q, "select string_agg(task || ' ' || what::text, e'\n' order by task, what::text) from seen"), jobs
	}
	nodeSaw, nodeLeft := run(func(q *queue) func() {
		return nodegw.Start(t, nodegw.Options{DatabaseURL: q.url, TaskDir: tasks, PollInterval: nodePoll}).Stop
	})
	oursSaw, oursLeft := run(func(q *queue) func() { return q.gwrun(tasks, path) })
	for what, sides := range map[string][2]string{"seen": {oursSaw, nodeSaw}, "jobs left": {oursLeft, nodeLeft}} {
		if sides[0] != sides[1] {
			t.Errorf("%s: only with gw-run %q, only with Node %q", what, without(sides[0], sides[1]),
				without(sides[1], sides[0]))
		}
	}
	if len(nodeSaw) < 1000 || len(nodeLeft) < 1000 {
		t.Errorf("too little to compare:\n%s\n%s", nodeSaw, nodeLeft)
	}
}
