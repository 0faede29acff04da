// Package mapfile reads a map of shards from a file in YAML, as gw-run --shards does.
//
//	shards:
//	  a: {connection: "postgres://app@a1,a2/app?target_session_attrs=read-write", slots: 0-127}
//	  b: {connection: "postgres://app@b1,b2/app?target_session_attrs=read-write", slots: 128-255}
//	home: auto
package mapfile

import (
	"os"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/pkg/shard"
)

// Load reads the map of the file at path. References such as ${NAME} are replaced by the values of environment variables. The
// error has a line for each problem, with its place in the file and what to do.
func Load(path string) (shard.Map, error) {
	m, err := config.LoadShards(path, os.Getenv)
	if err != nil {
		return shard.Map{}, err
	}
	return *m, nil
}
