package connection

// Schema returns the schema that a command works in unless its --schema says otherwise: GRAPHILE_WORKER_SCHEMA, else
// graphile_worker. It is meant as the default of that flag, so that an empty name given by the user stays empty and is
// refused.
func Schema(getenv func(string) string) string {
	if name := getenv("GRAPHILE_WORKER_SCHEMA"); name != "" {
		return name
	}
	return "graphile_worker"
}
