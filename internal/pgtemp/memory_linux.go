package pgtemp

import "syscall"

const (
	// sharedMemory is where Linux keeps files in memory for everybody.
	sharedMemory = "/dev/shm"
	// tmpfs is the kind of a file system in memory, as statfs(2) tells it.
	tmpfs = 0x01021994
	// enoughRoom is how many bytes must be free there for a server that tests use: a few hundred megabytes are what it
	// takes.
	enoughRoom = 4 << 30
)

// InMemory returns a folder for [Options.Dir] whose files are in memory, or nothing if there is none with enough room. A
// server there does not wait for a disk.
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
