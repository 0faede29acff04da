// Package gwui is the console of a queue: web pages on which operators look at jobs, tasks, queues, limits, workers and
// recurring jobs, and act on them.
//
//	console, err := gwui.New(pool, gwui.Config{})
//	if err != nil {
//		return err
//	}
//	defer console.Close()
//	mux.Handle("/queue/", http.StripPrefix("/queue", console))
//
// It is an [http.Handler]. All its links are relative, so it can be mounted at any path. It has no login of its own: put it
// behind the authentication of the program, and tell by [Config.Authorize] who the viewer is.
//
// What the pages show and do, the database decides: they call the queue's SQL functions with the rights of the pool's
// role. A page has only what that role may call, so the console of a monitor of "gw-migrate grants" shows no payloads and
// has no actions.
//
// The pages work without JavaScript. With it they are updated while they are open, and have shortcuts.
package gwui
