// Package lab is the vocabulary of experiments: what one asks, how it is run, and
// what a result looks like.
//
// An [Experiment] is a value: the paper and the place it repeats, what is printed
// there, parameters that take seconds, and others for full runs with the paper's own
// trial counts. Its Run function gets an [Env], which hands out the parameters in force,
// random sources and workers, and returns grids of numbers. Plots, tables and verdicts
// are made of these.
//
//	lab            this package
//	lab/store      runs experiments, keeps results in a folder as JSON, CSV and SVG
//	lab/report     the page with all results
//	lab/sum ...    experiments, one package per document or topic
//	lab/catalog    the one list of all experiments
//
// # Sweeps and races
//
// [Sweep] runs one trial function at every combination of some dimensions and takes
// the means of its metrics; formulas stand beside:
//
//	return lab.Find(ctx, e, lab.Sweep{
//		Name: "deletability", Title: "Keys that can be deleted", // of the table
//		Dims:   []lab.Dim{lab.Along("r", e.Ints("regions")...), lab.Along("n", e.Ints("keys")...)},
//		Trials: e.Int("trials"),
//		Trial:  func(at lab.At, r *rand.Rand) (lab.Figures, error) { return try(at.Int("r"), at.Int("n"), r) },
//		Metrics:  []lab.Metric{{Name: "deletable", Unit: lab.InPercent}, {Name: "reset bits"}},
//		Formulas: []lab.Formula{{Name: "Eq. (1)", Unit: lab.InPercent, Of: func(at lab.At) float64 { return eq1(at.Float("r"), at.Float("n")) }}},
//	})
//
// Contenders are a dimension, too: lab.Among("filter", "bloom", "d-left"). [Gather]
// makes several grids of one set of trials; [Computed] is a grid of formulas alone. A
// metric that is NaN at a point, or that a trial does not have, is left out there.
// [Race] times contenders lap by lap, in turns; its metrics are the names of the laps,
// in ns per operation.
//
// # Claims
//
// A [Claim] is a row: what is printed and where, which numbers it is about, and the
// [Test] they have to pass.
//
//	{Name: "deletable with r = 24, n = 22", Printed: "80 %", Where: "Sec. IV", Of: lab.Of("deletable", "r", 24, "n", 22), Is: lab.Agrees(2_000)},
//	{Name: "more keys", Printed: "...", Where: "Sec. IV", Of: lab.Of("deletable"), Is: lab.Falls("n")},
//
// [Of] picks a metric at all points with the given coordinates; what is not fixed
// ranges over all values, and the test must hold everywhere. The number to compare
// with is a [Pick] as well: coordinates that it does not fix are those of the point.
// A claim is of one of four kinds, see [Kind]. One with a Why is expected to differ.
//
// # What holds
//
// A run is a function of parameters, seed and code. Random numbers depend on the seed
// and on the number of the trial, never on which worker ran it. Times are the exception.
//
// A claim that failed never looks like one that held: the tolerance comes from the
// precision of the printed number and from the number of trials and is stated; a
// comparison that so few trials cannot decide is shown, not counted; a difference needs
// a reason, without which a strict run fails.
package lab
