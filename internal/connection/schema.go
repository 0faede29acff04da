package connection

import "cmp"

// Schema returns the default of the flag --schema: GRAPHILE_WORKER_SCHEMA, otherwise graphile_worker. As it is only the
// default, an empty name given by the user stays empty and is refused.
func Schema(getenv func(string) string) string {
	return cmp.Or(getenv("GRAPHILE_WORKER_SCHEMA"), "graphile_worker")
}
