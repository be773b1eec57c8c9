// Package demo gives a server something to do, so that its console has something to show.
//
//	go demo.Run(ctx, "127.0.0.1:6379")    // sessions that come and go, a crawler, a block list …
//	go demo.Gate(ctx, "/tmp/gate.sock")   // a gate that judges generated packets
//
// All of it is made up, but for the block list if EVERBLOOM_DATA names the folder of data that
// docs/lab.md describes: then it changes as a public one did. It takes a few per cent of a
// core.
package demo
