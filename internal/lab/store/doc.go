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
// A folder is replaced as a whole: its files belong together, even if several runs
// write at a time. Files of other names are kept.
package store
