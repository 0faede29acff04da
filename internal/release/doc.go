// Package release protects the released SQL files from changes. The file migrations/CHECKSUMS lists every released
// file; none of them may change. Later changes in functions/ are written to a snapshot of their own, with the migration
// that installs it.
//
// A directory is the folder sql of this repository: functions, migrations and their snapshots.
package release
