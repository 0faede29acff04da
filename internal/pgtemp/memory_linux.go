package pgtemp

import "syscall"

const (
	// sharedMemory is the folder in which Linux keeps files in memory, for all users.
	sharedMemory = "/dev/shm"
	// tmpfs is the type of a file system in memory in statfs(2).
	tmpfs = 0x01021994
	// enoughRoom is the number of free bytes that the folder must have. A server that tests use needs a few hundred
	// megabytes.
	enoughRoom = 4 << 30
)

// InMemory returns a folder for [Options.Dir] whose files are in memory, so that a server does not wait for a disk. It
// returns "" if there is no such folder with enough room.
func InMemory() string {
	const writeAndEnter = 2 | 1
	var fs syscall.Statfs_t
	if err := syscall.Statfs(sharedMemory, &fs); err != nil || syscall.Access(sharedMemory, writeAndEnter) != nil {
		return ""
	}
	if int64(fs.Type) != tmpfs || fs.Bavail*uint64(fs.Bsize) < enoughRoom {
		return ""
	}
	return sharedMemory
}
