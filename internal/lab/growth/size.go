package growth

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/filter/perennial"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

// variant is a filter that grows. Ours begin with nothing, the others with room for the
// first keys.
type variant struct {
	name string
	rate float64
	make func(first int) (filter.Filter, error)
}

func evergreens(name string, width int, rates ...float64) (list []variant) {
	for _, rate := range rates {
		list = append(list, variant{lab.Percent(rate) + name, rate, func(int) (filter.Filter, error) {
			return evergreen.New(evergreen.Config{FPR: rate, Width: width})
		}})
	}
	return list
}

func perennials(rates ...float64) (list []variant) {
	for _, rate := range rates {
		list = append(list, variant{lab.Percent(rate), rate, func(int) (filter.Filter, error) { return perennial.New(perennial.Config{FPR: rate}) }})
	}
	return list
}

// growers are the kinds that grow by themselves, at 1 %.
func growers() (list []variant) {
	for _, k := range kinds.All() {
		if k.Grows {
			list = append(list, variant{k.Name, 0.01, func(first int) (filter.Filter, error) {
				return k.New(kinds.Config{Items: uint64(first), FPR: 0.01})
			}})
		}
	}
	return list
}

const (
	up   = "growing"
	down = "shrinking"
)

var size = lab.Experiment{
	ID:       "evergreen/size",
	Title:    "Rate and memory while the set grows and shrinks",
	Question: "Does the rate stay at the asked one at every size, there and back, and what does that cost in fast and in slow memory?",
	Says:     "Package comment: the rate is kept to within a 128th; fast and slow bits per key at 1 % and 0.1 %, compact with 32 bits too; Delete undoes splits while the rate is below 0.8 of the asked one. README: about 80 bits per key in all at 1 %, of which queries read 12.",
	Params:   lab.Params{lab.Int("least keys", 1_000), lab.Int("most keys", 400_000).Full(50_000_000), lab.Int("sizes", 173).Full(313), lab.Int("queries", 2_000).Full(500_000)},
	Run:      growing(append(evergreens("", 0, 0.01, 0.001), evergreens(", compact", 32, 0.01, 0.001)...), []string{up, down}),
	Plots: []lab.View{
		view("rate", "The measured rate while growing, as a share of the asked one", "filter", "rate to asked", lab.Dots, "way", up),
		view("fast", "Fast memory while growing, which queries read", "filter", "fast bits per key", lab.Line, "way", up),
		view("all", "All memory while growing, fast and slow", "filter", "bits per key", lab.Line, "way", up),
		view("back", "The rate there and back, as a share of the asked 1 %", "way", "rate to asked", lab.Dots, "filter", "1.00 %"),
		view("memory", "All memory there and back, asked for 1 %", "way", "bits per key", lab.Line, "filter", "1.00 %"),
	},
	Claims: append(keptClaims(1+1.0/128, lab.Span{}),
		inside("fast bits per key, 1 %", "fast bits per key", "10.1", "13.5", "1.00 %"),
		inside("fast bits per key, 0.1 %", "fast bits per key", "15.7", "21.6", "0.100 %"),
		inside("slow bits per key, 1 %", "slow bits per key", "67", "70", "1.00 %"),
		inside("slow bits per key, 1 %, compact", "slow bits per key", "39", "42", "1.00 %, compact"),
		inside("slow bits per key, 0.1 %", "slow bits per key", "68", "72", "0.100 %"),
		inside("slow bits per key, 0.1 %, compact", "slow bits per key", "41", "45", "0.100 %, compact"),
		inside("bits per key in all, 1 %", "bits per key", "78", "84", "1.00 %"),
		inside("bits per key in all, 1 %, compact", "bits per key", "49", "54", "1.00 %, compact"),
		lab.Claim{Name: "fast memory of compact filters, 1 %", Printed: "1.02 times that with whole keys at most, up to 50 million keys", Where: comment, Of: compactTo("1.00 %"), Is: large(lab.AtMost(lab.Number(1.02)))},
		lab.Claim{
			Name: "fast memory of compact filters, 0.1 %", Printed: "1.02 times that with whole keys at most, up to 50 million keys", Where: comment, Of: compactTo("0.100 %"), Is: large(lab.AtMost(lab.Number(1.02))), FullOnly: true,
			Why: "1.03 where a doubling begins: a compact filter begins it earlier, because equal fingerprints take part of the rate. The package comment says 1.03 since",
		},
		lab.Claim{Name: "fast bits over a doubling, 1 %", Printed: "12.2 on average", Where: comment, Of: lab.Of("mean fast bits", "filter", "1.00 %"), Is: lab.Rounds(), FullOnly: true},
		lab.Claim{Name: "fast bits over a doubling, 0.1 %", Printed: "19.3 on average", Where: comment, Of: lab.Of("mean fast bits", "filter", "0.100 %"), Is: lab.Rounds(), FullOnly: true},
		lab.Claim{Name: "bits per key in all on average, 1 %", Printed: "80 (about)", Where: "README", Of: lab.Of("mean bits", "filter", "1.00 %"), Is: lab.Around()},
		lab.Claim{Name: "bits per key that queries read, 1 %", Printed: "12", Where: "README", Of: lab.Of("mean fast bits", "filter", "1.00 %"), Is: lab.Rounds()},
		lab.Claim{Name: "lowest rate while shrinking", Printed: "Delete undoes splits while the rate is below 0.8 of the asked one: 0.75 of it and more", Where: comment, Of: lab.Of("rate by Info", "way", down).Over(lab.Of("asked")), Is: lab.In(lab.Span{Dim: "n", From: 20_000}, lab.AtLeast(lab.Number(0.75)))},
		lab.Claim{Name: "slow memory while shrinking", Printed: "shrinks with the set: 1.1 times that of growing at most", Where: comment, Of: lab.Of("slow bits per key", "way", down).Over(lab.Of("slow bits per key", "way", up)), Is: lab.In(lab.Span{Dim: "n", From: 20_000}, lab.AtMost(lab.Number(1.1)))}),
}

var asked = lab.Experiment{
	ID:       "evergreen/asked",
	Title:    "Any asked rate",
	Question: "Is every asked rate held over a doubling, from one in two to one in 100,000?",
	Says:     "Config: \"FPR is the rate of false positives that the filter keeps at every size, from 1e-9 to 0.5\".",
	Params:   lab.Params{lab.Int("least keys", 25_000).Full(1_000_000), lab.Int("most keys", 50_000).Full(2_000_000), lab.Int("sizes", 5).Full(21), lab.Int("queries", 50_000).Full(3_000_000)},
	Run:      growing(evergreens("", 0, askedRates...), []string{up}),
	Claims: append(keptClaims(1+1.0/128, lab.Span{Dim: "filter", To: float64(len(askedRates) - 2)}), lab.Claim{
		Name: "rate by its own account, 1e-5", Printed: "at 1e-5 and less by some more, as a single key in a full block may add more than a 128th: taken as a twentieth", Where: comment,
		Of: lab.Of("rate by Info", "filter", lab.Percent(1e-5)).Over(lab.Of("asked")), Is: lab.AtMost(lab.Number(1.05)),
	}),
}

// askedRates end with the one at which a key may weigh more than a 128th.
var askedRates = []float64{0.5, 0.1, 0.03, 0.01, 0.001, 0.0001, 0.00001}

var perennialSize = lab.Experiment{
	ID:       "perennial/size",
	Title:    "Memory and rate while the set grows and shrinks",
	Question: "Does the filter stay at 16 bits per key and at the asked rate at every size, there and back?",
	Says: "Design 9: from 20,000 keys on at most 16.9 bits per key at 1 %, 16.4 on average, and 20.6 and 20.1 at 0.1 %; 17.5 on the way down to a hundredth; the rate is kept at every size. " +
		"Measured elsewhere with their own code: InfiniFilter and Aleph 16.46 bits per key when they are fullest and twice that after a doubling, their rate 0.16 to 0.93 % over ten doublings.",
	Params: lab.Params{lab.Int("least keys", 1_000), lab.Int("most keys", 500_000).Full(50_000_000), lab.Int("sizes", 181).Full(313), lab.Int("queries", 4_000).Full(1_000_000)},
	Run:    growing(perennials(0.01, 0.001), []string{up, down}, theirTable()),
	Plots: []lab.View{
		withMarks(view("bits", "All memory while growing; theirs: when fullest and after a doubling", "filter", "bits per key", lab.Line, "way", up), fullest, twiceThat),
		withMarks(view("rate", "The measured rate while growing, as a share of the asked one; theirs: of 1 %", "filter", "rate to asked", lab.Dots, "way", up), drift),
		view("back", "All memory there and back, asked for 1 %", "way", "bits per key", lab.Line, "filter", "1.00 %"),
	},
	Claims: append(keptClaims(1, lab.Span{}),
		design9("bits per key, 1 %", "16.9", "most bits per key", "1.00 %", 16.95),
		design9("bits per key on average, 1 %", "16.4", "mean bits", "1.00 %", 16.45),
		design9("bits per key, 0.1 %", "20.6", "most bits per key", "0.100 %", 20.65),
		design9("bits per key on average, 0.1 %", "20.1", "mean bits", "0.100 %", 20.15),
		lab.Claim{Name: "bits per key while shrinking", Printed: "17.5 at most, to a hundredth or 10,000 keys", Where: "design 9", Of: lab.Of("most bits, back to a hundredth", "filter", "1.00 %"), Is: lab.AtMost(lab.Number(17.55))}),
}

var all = lab.Experiment{
	ID:       "all/growing",
	Title:    "The kinds that grow",
	Question: "What becomes of the rate and of the memory when a set grows to many times the size that it began with?",
	Says: "docs/choosing.md: evergreen, perennial, scalable and partition keep the rate; scalable takes 12.6 bits per key for 1 % if its first size was right, 14 to 48 after it has grown; " +
		"dynamic and parallel have a rate that rises; elastic takes thousands of bits per key.",
	Params: lab.Params{lab.Int("least keys", 1_000).Full(10_000), lab.Int("most keys", 64_000).Full(1_280_000), lab.Int("sizes", 121).Full(141), lab.Int("queries", 4_000).Full(100_000)},
	Run:    growing(growers(), []string{up}),
	Plots:  []lab.View{five("rate", "The rate while the set grows, asked for 1 %", "rate", lab.Dots), five("bits", "All memory while the set grows", "bits per key", lab.Line)},
	Claims: growersClaims(),
}

// growersClaims tells those that keep the rate from those whose rate rises.
func growersClaims() []lab.Claim {
	const page = "docs/choosing.md"
	claims := []lab.Claim{
		{Name: "no false negatives", Printed: found, Where: "README", Of: lab.Of("false negatives"), Is: lab.Zero()},
		{Name: "scalable: bits per key after it has grown", Printed: "14 to 48", Where: page, Of: lab.Of("bits per key", "filter", "scalable"), Is: lab.In(lab.Span{Dim: "n", From: 20_000}, lab.Inside("14", "48"))},
	}
	for _, k := range kinds.All() {
		c := lab.Claim{Name: k.Name + ": rate", Printed: "it is kept", Where: page, Of: lab.Of("rate", "filter", k.Name), Is: lab.AtMost(lab.Of("asked"))}
		if k.Drifts {
			c.Printed, c.Is = "it rises", lab.In(lab.Span{Dim: "n", From: 64_000}, lab.Above(lab.Of("asked")))
		}
		if k.Grows {
			claims = append(claims, c)
		}
	}
	return claims
}

func view(name, title, by, metric string, style lab.Style, at ...any) lab.View {
	labels := map[string]lab.Axis{"rate to asked": {Label: "false positives ÷ asked rate"}, "rate": {Label: "false positives", Log: true, Percent: true}}
	y, ok := labels[metric]
	if !ok {
		y = lab.Axis{Label: metric, Log: true}
	}
	return lab.View{Name: name, Title: title, X: "n", By: by, At: at, XAxis: lab.Axis{Label: "keys", Log: true}, Y: y, Curves: []lab.Curve{{Measured: metric, Style: style}}}
}

// five leaves two kinds out of a view: elastic, which keeps its rate in thousands of bits
// per key, and parallel, which is like dynamic.
func five(name, title, metric string, style lab.Style) lab.View {
	v := view(name, title, "filter", metric, style, "way", up)
	v.Only = []any{"scalable", "partition", "dynamic", "perennial", "evergreen"}
	return v
}

// large judges sizes at which pages of 4 KiB weigh little.
func large(test lab.Test) lab.Test { return lab.In(lab.Span{Dim: "n", From: 200_000}, test) }

func inside(name, metric, least, most, filter string) lab.Claim {
	return lab.Claim{Name: name, Printed: least + " to " + most, Where: comment, Of: lab.Of(metric, "filter", filter, "way", up), Is: large(lab.Inside(least, most))}
}

func compactTo(rate string) lab.Pick {
	return lab.Of("fast bits per key", "filter", rate+", compact", "way", up).Over(lab.Of("fast bits per key", "filter", rate))
}

func design9(name, printed, metric, filter string, most float64) lab.Claim {
	return lab.Claim{Name: name, Printed: printed + " at most, from 20,000 keys on", Where: "design 9", Of: lab.Of(metric, "filter", filter, "way", up), Is: lab.In(lab.Span{Dim: "n", From: 20_000}, lab.AtMost(lab.Number(most)))}
}

// keptClaims are those of our own; by its own account a filter may be above the asked
// rate by a factor, in a part.
func keptClaims(factor float64, part lab.Span) []lab.Claim {
	account := lab.AtMost(lab.Number(factor))
	if part != (lab.Span{}) {
		account = lab.In(part, account)
	}
	return []lab.Claim{
		{Name: "rate", Printed: keeps, Where: comment, Of: lab.Of("rate"), Is: lab.AtMost(lab.Of("asked"))},
		{Name: "rate by its own account", Printed: keeps, Where: comment, Of: lab.Of("rate by Info").Over(lab.Of("asked")), Is: account},
		{Name: "no false negatives", Printed: found, Where: "README", Of: lab.Of("false negatives"), Is: lab.Zero()},
	}
}

// growing leads filters through all sizes, there and, if that is a way, back, and has more
// parts to show beside.
func growing(list []variant, ways []string, more ...lab.Part) func(context.Context, *lab.Env) (*lab.Result, error) {
	return func(ctx context.Context, e *lab.Env) (*lab.Result, error) {
		sizes, queries := walk.Sizes(e.Int("least keys"), e.Int("most keys"), e.Int("sizes")), e.Int("queries")
		return lab.Find(ctx, e, append([]lab.Part{lab.Sweep{
			Name: "sizes", Title: "The filter at each size", Dims: []lab.Dim{lab.AmongAll("filter", list, func(v variant) string { return v.name }), lab.Among("way", ways...)},
			Trace: lab.Along("n", sizes...), Trials: 1,
			Follow: func(at lab.At, r *rand.Rand) ([]lab.Figures, error) {
				v, back := list[at.Int("filter")], at.Name("way") == down
				f, err := v.make(sizes[0])
				if err != nil {
					return nil, err
				}
				looks, err := walk.Through(ctx, f, walk.NewKeys(r), sizes, queries, back)
				return stages(looks, v.rate, back), err
			},
			Metrics: append(walk.Metrics(queries),
				[]lab.Metric{{Name: "most bits per key"}, {Name: "rate to asked"}, {Name: "mean fast bits"}, {Name: "mean bits"}, {Name: "most bits, back to a hundredth"}}...),
			Formulas: []lab.Formula{{Name: "asked", Unit: lab.InPercent, Of: func(at lab.At) float64 { return list[at.Int("filter")].rate }}},
		}, lab.Notes{
			"Ours begin with nothing and are not told how many keys will come; other kinds are made for the least number. At every size absent keys are asked about that were not asked about before, and as many present ones. " +
				"Keys are deleted in the order in which they were added. Means are over whole doublings up to the largest filter, from 20,000 keys on.",
		}}, more...)...)
	}
}

// stages are the figures of looks at a filter on its way: of the last while growing the means
// as well, and the most bits per key while shrinking to a hundredth, or 10,000 keys.
func stages(looks []walk.Look, rate float64, back bool) (out []lab.Figures) {
	if len(looks) == 0 {
		return nil
	}
	most := float64(looks[len(looks)-1].Keys)
	whole := math.Exp2(math.Floor(math.Log2(most / 20_000))) // doublings
	sum, n := walk.Look{}, 0.0
	for _, l := range looks {
		stage := l.Figures()
		stage["most bits per key"], stage["rate to asked"] = l.Most, l.Yes/rate
		if float64(l.Keys) > most/whole*1.0001 {
			sum.Fast, sum.Slow, n = sum.Fast+l.Fast, sum.Slow+l.Slow, n+1
		}
		if back && l.Keys >= max(int(most)/100, 10_000) {
			stage["most bits, back to a hundredth"] = l.Most
		}
		out = append(out, stage)
	}
	if end := out[len(out)-1]; !back {
		end["mean fast bits"], end["mean bits"] = sum.Fast/n, sum.All()/n
	}
	return out
}

// Figures of InfiniFilter and Aleph with fingerprints of 10 bits, from 4,096 slots on,
// measured with their authors' code at another time: rates doubling by doubling when 79 %
// of the slots are taken, and all bits per key then.
var theirRates = []float64{0.0016, 0.0023, 0.00305, 0.0039, 0.0046, 0.0055, 0.0061, 0.0068, 0.0077, 0.0084, 0.0093}

const theirBits = 16.46

func theirKeys(doubling int) float64 { return math.Ldexp(0.79*4096, doubling) }

func fullest(doubling int) (keys, bits float64)   { return theirKeys(doubling), theirBits }
func twiceThat(doubling int) (keys, bits float64) { return theirKeys(doubling) * 1.001, 2 * theirBits }
func drift(doubling int) (keys, rate float64) {
	return theirKeys(doubling), theirRates[doubling] / 0.01
}

func withMarks(v lab.View, at ...func(doubling int) (x, y float64)) lab.View {
	for i := range theirRates {
		for _, mark := range at {
			x, y := mark(i)
			v.Marks = append(v.Marks, lab.Mark{X: x, Y: y, Text: "InfiniFilter and Aleph"})
		}
	}
	return v
}

// theirTable is what others have.
func theirTable() lab.Part {
	of := func(name string, unit lab.Unit, value func(doubling int) float64) lab.Formula {
		return lab.Formula{Name: name, Unit: unit, Of: func(at lab.At) float64 { return value(at.Int("doubling")) }}
	}
	return lab.Computed("theirs", "InfiniFilter and Aleph, measured with their own code, not in this run", []lab.Dim{lab.Count("doubling", 0, len(theirRates)-1)},
		of("keys, theirs", lab.Plain, theirKeys), of("rate, theirs", lab.InPercent, func(i int) float64 { return theirRates[i] }),
		lab.Fixed("bits per key when fullest, theirs", lab.Plain, theirBits), lab.Fixed("bits per key after a doubling, theirs", lab.Plain, 2*theirBits))
}
