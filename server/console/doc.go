// Package console shows a server in a browser: what it does, its sets, their history, and
// how to make new ones.
//
//	c := console.New(source, "")
//	go c.Run(ctx)               // keeps the history
//	mux.Handle("/console/", c)
//
// Pages are rendered here, charts included, and can be read without script. Each page has
// one live part; a script replaces it by what a stream of server-sent events brings once a
// second. Everything that changes a set is a command, run as the user that is logged in, so
// that roles, prefixes and limits are those of the server.
//
// Nothing is loaded from elsewhere. Requests that change something must come from the
// console's own pages, and a server without users is shown only to its own machine.
package console
