// Package store keeps results in a folder.
//
// Every experiment has a folder of its own, named after its identifier:
//
//	sum/params/result.json   everything, and what Load reads
//	sum/params/rate.svg      a plot
//	sum/params/rate.csv      its points: series, x, y, lo, hi
//	sum/params/sizes.csv     a table
//	sum/params/checks.csv    the checks
//
// result.json is removed first and written last: where it is, the other files
// belong to it.
package store
