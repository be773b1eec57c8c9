// Package replace replaces files as a whole or not at all, one writer at a time.
//
// # Locks
//
// A writer that reads a file, changes what it read and writes it back holds a [Lock] from before it reads until the file
// is replaced. The lock is an advisory one (flock) on the file itself, so nothing is left behind when a process is
// killed. Replacing gives the name to another file, so a writer that has waited for the lock compares the file that it
// opened with the one that the name stands for, and begins again if they differ. The file stays open meanwhile, so that
// its inode number cannot come back as that of a newer file.
//
// [File], which replaces a file without reading it, takes the same lock for the moment of renaming: it neither loses a
// change that is under way nor is undone by one.
//
// # Leftovers
//
// The new content is written to FILE.xxxxxxxx.tmp (eight hexadecimal digits), which its writer also locks. A file of such
// a name that is not locked belongs to a process that was killed, and the next writer of FILE removes it.
//
// # Portability
//
// Where the system has no flock, locks hold between the goroutines of one process only, and leftovers stay. Where the
// file system has none, Acquire says so with [ErrNoLocks], and File replaces without a lock.
package replace
