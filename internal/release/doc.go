// Package release keeps the SQL of releases as they were. The file migrations/CHECKSUMS names every file that has been
// released; none of them changes any more. What has changed in functions/ since goes into a snapshot of its own, with the
// migration that installs it.
//
// A directory is that of this repository's sql: functions, migrations and their snapshots.
package release
