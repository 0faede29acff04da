// Package gwui is the console of a queue: web pages that show jobs, tasks, queues, limits, workers and recurring jobs, and
// offer actions on them to operators.
//
//	console, err := gwui.New(pool, gwui.Config{})
//	if err != nil {
//		return err
//	}
//	defer console.Close()
//	mux.Handle("/queue/", http.StripPrefix("/queue", console))
//
// A [Console] is an [http.Handler]. All its links are relative, so it can be mounted at any path. It has no login of its own:
// put it behind the authentication of the program, and let [Config.Authorize] return the user.
//
// The privileges of the pool's role decide what the pages show and which actions they offer: they call the queue's SQL
// functions as this role. For example, the console of a monitor of "gw-migrate grants" shows no payloads and has no actions.
//
// The pages work without JavaScript. With JavaScript, open pages are updated, and there are keyboard shortcuts.
package gwui
