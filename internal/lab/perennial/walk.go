package perennial

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// keys are found again by their number, so that fifty million need no memory.
type keys struct{ hash filter.Hash }

func newKeys(r *rand.Rand) keys { return keys{filter.XXH3(r.Uint64())} }

func (k keys) present(i int) filter.Key { return k.hash.Uint64(uint64(i)) }
func (k keys) absent(i int) filter.Key  { return k.hash.Uint64(uint64(i) | 1<<63) }

// A look is what a filter was like with some number of keys.
type look struct {
	keys, found, asked, lost int // found of the absent keys asked for; lost are false negatives
	bits                     float64
	says                     float64 // the rate by Info
}

// A walk changes a filter in the order of its keys' numbers: those from first to before
// next are in the set.
type walk struct {
	f           filter.Deleter
	keys        keys
	first, next int
	asked       int // absent keys so far: each look asks for others
	queries     int
}

// to adds or deletes keys until there are n.
func (w *walk) to(n int) error {
	for ; w.next-w.first < n; w.next++ {
		if _, err := w.f.Add(w.keys.present(w.next)); err != nil {
			return err
		}
	}
	for ; w.next-w.first > n; w.first++ {
		if err := w.f.Delete(w.keys.present(w.first)); err != nil {
			return fmt.Errorf("key %d of %d: %w", w.first, w.next, err)
		}
	}
	return nil
}

// glance looks at the memory only.
func (w *walk) glance() look {
	info, n := w.f.Info(), w.next-w.first
	return look{keys: n, bits: float64(info.FastBits+info.SlowBits) / float64(n), says: info.FPR}
}

func (w *walk) look() look {
	l := w.glance()
	l.asked = w.queries
	for range l.asked {
		if w.f.MayContain(w.keys.absent(w.asked)) {
			l.found++
		}
		w.asked++
	}
	for i := range l.asked {
		if !w.f.MayContain(w.keys.present(w.first + i*l.keys/l.asked)) {
			l.lost++
		}
	}
	return l
}

// through visits sizes at equal ratios from one number of keys to another. It returns a look
// at each, and a glance every hundredth between them.
func (w *walk) through(ctx context.Context, from, to, count int) (looks, glances []look, err error) {
	ratio := math.Pow(float64(to)/float64(from), 1/float64(count-1))
	parts := max(1, int(math.Abs(math.Log(ratio))/0.01))
	for i := range (count-1)*parts + 1 {
		n := math.Round(float64(from) * math.Pow(ratio, float64(i)/float64(parts)))
		if err := w.to(int(n)); err != nil {
			return nil, nil, err
		}
		glances = append(glances, w.glance())
		if i%parts == 0 {
			looks = append(looks, w.look())
		}
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
	}
	return looks, glances, nil
}

func percent(rate float64) string { return fmt.Sprintf("%.4g %%", 100*rate) }

// kept checks that no rate is above the asked one.
func kept(name string, asked float64, looks []look) lab.Check {
	ok, worst := true, look{asked: 1}
	for _, l := range looks {
		_, most := theory.BinomialInterval(float64(l.asked), asked, lab.Sigmas)
		ok = ok && float64(l.found) <= most && l.says <= asked
		if float64(l.found)/float64(l.asked) > float64(worst.found)/float64(worst.asked) {
			worst = l
		}
	}
	return lab.Holds("rate "+name, "keeps the rate it was asked for at every size (package comment)",
		fmt.Sprintf("at most %s of absent keys, at %d keys; Info %s", percent(float64(worst.found)/float64(worst.asked)), worst.keys, percent(worst.says)),
		ok && len(looks) > 0, fmt.Sprintf("at each of %d sizes, within %d standard deviations; by Info without", len(looks), lab.Sigmas))
}

// noneLost checks that there is no false negative.
func noneLost(name string, looks []look) lab.Check {
	lost, asked := 0, 0
	for _, l := range looks {
		lost, asked = lost+l.lost, asked+l.asked
	}
	return lab.Holds("false negatives "+name, "none", fmt.Sprintf("%d of %d present keys", lost, asked), lost == 0 && asked > 0, "not one")
}

// sized checks the bits per key from a number of keys on.
func sized(name string, least int, most, mean float64, glances []look) lab.Check {
	sum, highest, n := 0.0, look{}, 0
	for _, l := range glances {
		if l.keys < least {
			continue
		}
		n++
		sum += l.bits
		if l.bits > highest.bits {
			highest = l
		}
	}
	claim, average := fmt.Sprintf("at most %.1f", most), sum/float64(max(n, 1))
	if mean > 0 {
		claim += fmt.Sprintf(", %.1f on average", mean)
	}
	return lab.Holds("bits per key "+name, claim+" (design 9)",
		fmt.Sprintf("at most %.2f, at %d keys; %.2f on average", highest.bits, highest.keys, average),
		n > 0 && highest.bits <= most && (mean == 0 || average <= mean), fmt.Sprintf("at %d sizes from %d keys on, a hundredth apart", n, least))
}

// bitsOf returns points for a plot.
func bitsOf(glances []look) (points []lab.Point) {
	for _, l := range glances {
		points = append(points, lab.Point{X: float64(l.keys), Y: l.bits})
	}
	return points
}

func ratesOf(looks []look, asked float64) (points []lab.Point) {
	for _, l := range looks {
		p := lab.Share(float64(l.keys), l.found, l.asked)
		points = append(points, lab.Point{X: p.X, Y: p.Y / asked, Lo: p.Lo / asked, Hi: p.Hi / asked})
	}
	return points
}

func tableOf(name, title string, looks []look) lab.Table {
	t := lab.Table{Name: name, Title: title, Columns: []string{"keys", "bits per key", "measured rate", "rate by Info", "false negatives"}}
	for _, l := range looks {
		t.Add(l.keys, l.bits, percent(float64(l.found)/float64(l.asked)), percent(l.says), l.lost)
	}
	return t
}
