// Package image keeps images of sets in a folder: what was in memory, through which record
// of the log, so that a server starts without reading the whole log and the log can be
// trimmed.
//
//	pack-7        contents of entries, one behind the other
//	manifest-7    what the entries are, in which packs their contents are, and where the log
//	              goes on
//
// A generation is a manifest and the packs that it names. Entries that did not change stay
// in the pack where they are; a pack of which less than half is in use is written anew with
// the next generation. Everything has a checksum, and a generation counts only when all of
// it is on disk: file, sync, rename, sync of the folder, the manifest last. Two generations
// are kept.
//
//	manifest:  magic 8 | length 8 | body | crc32c 4
package image

import "errors"

// ErrDamaged is matched by errors about images that are not what was written.
var ErrDamaged = errors.New("damaged image")
