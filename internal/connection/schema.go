package connection

// Schema returns the default of the flag --schema: GRAPHILE_WORKER_SCHEMA, otherwise graphile_worker. As it is only the
// default, an empty name given by the user stays empty and is refused.
func Schema(getenv func(string) string) string {
	if name := getenv("GRAPHILE_WORKER_SCHEMA"); name != "" {
		return name
	}
	return "graphile_worker"
}
