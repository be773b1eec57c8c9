// Package lab is the vocabulary of experiments: what one asks, how it is run, and
// what a result looks like.
//
// An [Experiment] is a value. It names the paper and the place it repeats, what
// is printed there, and two sets of parameters: quick ones that take seconds and
// full ones with the paper's own trial counts. Its Run function gets an [Env],
// which hands out the parameters in force, random sources and workers, and
// returns a [Result]: plots, tables, notes, and checks that compare with what the
// paper prints.
//
//	lab            this package: experiments, environments, results, checks
//	lab/draw       plots as SVG, in one style
//	lab/store      results in a folder, as JSON, CSV and SVG
//	lab/report     the page with all results
//	lab/sum ...    experiments, one package per document or topic
//	lab/catalog    the one list of all experiments
//
// # What holds
//
// A run is a function of parameters, seed and code. Random numbers come from
// [Env.Rand] and [Trials] only; they depend on the seed and on the number of the
// trial, never on which worker ran it or how many there are. Times are the
// exception, and experiments that measure them say so.
//
// A claim that failed never looks like one that held. The verdict of a check is
// computed from its numbers; the tolerance comes from the precision of the
// printed number and from the number of trials and is stated with the check; a
// difference needs a reason, without which the result is refused.
package lab
