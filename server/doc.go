// Package server serves sets over the Redis protocol: BF.* and CF.* as RedisBloom has
// them, and EB.*, everbloom's own. What it has acknowledged is on disk.
//
//	settings := server.NewSettings()
//	settings.Set("dir", "/var/lib/everbloom")
//	s, err := server.Open(ctx, settings, slog.Default())
//	err = s.Serve(ctx)
//
// A server owns a folder:
//
//	lock        held while a server runs
//	mode        how the folder may be used, and by which release
//	tail        the last record that was acknowledged
//	jetstream   the log
//	images      what was in memory, so that the log can be trimmed
//
// # Layers
//
// server/internal/resp is the protocol, command the table of commands, partition the one
// goroutine that decides, writes and applies, store what is in memory, record what is in
// the log, log the log itself and image its images. None of them knows those before it.
package server
