// Package resp reads and writes the Redis protocol, versions 2 and 3.
//
// # Reading
//
// A [Reader] returns the commands that are complete in its buffer, one by one, without
// waiting and without copying: arguments are parts of the buffer and good until the next
// Fill. It remembers how far it has parsed, so a command that arrives byte by byte is
// scanned once.
//
//	for {
//		args, err := r.Next()
//		if err != nil {
//			return err // answer it and close
//		}
//		if args == nil {
//			if err := r.Fill(); err != nil {
//				return err
//			}
//			continue
//		}
//		… handle args …
//	}
//
// Bytes come from anywhere. Memory follows the bytes that have arrived, never a length
// that was announced; what [Limits] does not allow is a [ProtocolError], after which the
// stream has no meaning any more.
//
// # Writing
//
// A [Writer] has one method per meaning, not per type of the protocol. It knows the
// version that a connection speaks: Bool writes :1 or #t, Map writes *10 or %5.
package resp
