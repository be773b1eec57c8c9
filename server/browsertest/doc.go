// Package browsertest looks at the console of a server with a browser. It is a module of its
// own, so that what drives the browser is no requirement of everbloom.
//
//	go test . -shots DIR           also writes pictures of all pages into a folder
//	go test . -run Demo -readme    writes docs/images, which the README shows
package browsertest
