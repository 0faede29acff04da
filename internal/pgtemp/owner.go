package pgtemp

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
)

// owner is the user that runs a server, if it is not the current user.
type owner struct{ uid, gid int }

// serverOwner returns the user that runs a server, nil for the current one. PostgreSQL refuses to run as root, so for
// root it returns postgres, a user that most packages create, otherwise nobody.
func serverOwner() (*owner, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			return nil, fmt.Errorf("read the user id of %s: %w", name, err)
		}
		gid, err := strconv.Atoi(u.Gid)
		if err != nil {
			return nil, fmt.Errorf("read the group id of %s: %w", name, err)
		}
		return &owner{uid, gid}, nil
	}
	return nil, errors.New("drop root's rights: there is no user postgres and no user nobody to run the server as")
}
