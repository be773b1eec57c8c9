package filtertest

import (
	"cmp"
	"errors"
	"fmt"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// Model runs random commands on filters of s and on the exact reference, and
// fails as soon as they disagree. The same seed gives the same commands.
func Model(tb testing.TB, s Subject, seed uint64, operations int) {
	tb.Helper()
	newModel(tb, s, anyCommand, randomChoices(seed)).play(operations)
}

// Fuzz lets the fuzzer write the commands. The first bytes of an input are the
// geometry, tiny on purpose, the others a list of commands with their arguments.
func Fuzz(f *testing.F, s Subject) {
	f.Helper()
	for _, script := range seedScripts() {
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		newModel(t, s, anyCommand, scripted(script)).play(maxScript)
	})
}

// AddAndDelete adds keys to a filter of any shape and size, adds them again, and
// deletes them, with at most so many different keys in the set. check says what is
// wrong inside of the filter, and is asked in the end.
func AddAndDelete(tb testing.TB, f filter.Deleter, check func() error, keys int, seed uint64, operations int) {
	tb.Helper()
	m := newModel(tb, one(func() filter.Deleter { return f }), addAndDelete, randomChoices(seed))
	m.most, m.pool, m.stream = keys, 8*keys+8, Stream{Seed: 2*seed + 1}
	m.inside = func(filter.Filter) error { return check() }
	m.play(operations)
}

// Invariants changes a filter in every way that its kind can, and against the rules,
// too: it also deletes false positives. check says what is wrong inside of the filter,
// and is asked after each command. All filters that build returns are equal.
func Invariants[F filter.Filter](tb testing.TB, seed uint64, operations int, build func() F, check func(F) error) {
	tb.Helper()
	m := newModel(tb, one(build), invariants, randomChoices(seed))
	m.pool, m.stream = 40, Stream{Seed: 2*seed + 1}
	m.inside = func(f filter.Filter) error { return check(f.(F)) }
	m.play(operations)
}

// one is a Subject whose filters all have one shape.
func one[F filter.Filter](build func() F) Subject {
	return Subject{New: func(uint64, float64) (filter.Filter, error) { return build(), nil }}
}

// maxScript is how many commands of one input are run: more would slow the
// fuzzer down and find nothing that fewer do not.
const maxScript = 2000

func newModel(tb testing.TB, s Subject, w weighting, c *choices) *model {
	tb.Helper()
	return &model{checker: checker{tb, s}, choices: c, weighting: w, commands: commandsByValue(w)}
}

// A model is a filter beside the reference that says what must be in it.
type model struct {
	checker
	choices   *choices
	weighting weighting
	commands  [256]command // by the byte that stands for each
	step      int
	command   string // the one being run

	filter filter.Filter
	items  uint64
	fpr    float64
	stream Stream
	pool   int // how many different keys there are: few, so that they come back
	most   int // keys in the set, 0 if there is no limit

	// What the filter must have. Where duplicates are ignored every count is 1.
	set Set

	// Keys that the filter may have or not, since an intersection or a refusal.
	loose map[filter.Key]bool

	inside     func(filter.Filter) error // says what is wrong inside; may be nil
	duplicates filter.Duplicates
	unequal    bool // filters of one geometry may grow to different sizes
	merged     bool // copies of keys may take room
	void       bool // a false positive was deleted: the filter need not have any key
}

// play runs the commands, looks at a few keys after each, and at all in the end.
func (m *model) play(operations int) {
	m.Helper()
	m.restart()
	for m.step = 0; m.step < operations && !m.choices.over() && !m.Failed(); m.step++ {
		c := &m.commands[m.choices.next()]
		m.command = c.name
		c.run(m)
		m.sample()
		if m.weighting == invariants {
			m.checkInside()
		}
	}
	m.command = "the last look"
	m.checkAll()
}

// restart begins anew, with another geometry if the subject has several.
func (m *model) restart() {
	if m.weighting == anyCommand {
		m.items = uint64(1 + m.choices.next()%64)
		if m.choices.random != nil {
			m.items <<= m.choices.next() % 7
		}
		m.fpr = []float64{0.3, 0.1, 0.01, 0.0001}[m.choices.next()%4]
		m.stream = m.s.stream(uint64(m.choices.next()))
		m.pool = 3*int(m.items) + 8
	}
	m.empty()
}

// empty begins anew with the same geometry.
func (m *model) empty() {
	m.filter = m.make(m.items, m.fpr)
	m.forget()
	info := m.filter.Info()
	m.duplicates = info.Duplicates
	m.unequal = info.Unbounded || filter.AbilitiesOf(m.filter).Resize
}

// forget empties the reference.
func (m *model) forget() {
	m.set, m.loose, m.merged, m.void = Set{}, make(map[filter.Key]bool), false, false
}

// sibling returns a model of the same geometry after some commands that are fit
// for it.
func (m *model) sibling(commands int) *model {
	o := *m
	o.empty()
	for range commands {
		if c := &m.commands[m.choices.next()]; c.simple {
			c.run(&o)
		}
	}
	return &o
}

// key returns a key of the pool, present or not. Some seeds stand for keys that are not
// hashed at all: numbers in a row, from either end, and with gaps.
func (m *model) key() filter.Key {
	i := uint64(m.choices.below(m.pool))
	mask := ^filter.Key(0) >> (64 - cmp.Or(m.s.KeyBits, 64))
	switch m.stream.Seed % 8 {
	case 0:
		return filter.Key(i)
	case 2:
		return ^filter.Key(i) & mask
	case 4:
		return filter.Key(i<<10) & mask
	}
	return m.stream.Present(i)
}

// present returns a key of the set, if it has one.
func (m *model) present() (k filter.Key, ok bool) {
	if m.set.Len() == 0 {
		return 0, false
	}
	return m.set.At(m.choices.below(m.set.Len())), true
}

// fail reports what is wrong and ends the run.
func (m *model) fail(format string, args ...any) {
	m.Fatalf("%s, command %d, %s, filter for %d keys at rate %g with %d keys: %s",
		m.choices.origin, m.step, m.command, m.items, m.fpr, m.set.Len(), fmt.Sprintf(format, args...))
}

// refused reports whether err is one that changes nothing and that a filter may
// give at any time, or one of the others given; any other error fails the test.
func (m *model) refused(err error, others ...error) bool {
	if err == nil {
		return false
	}
	for _, target := range append(others, filter.ErrFull, filter.ErrStorage, errors.ErrUnsupported) {
		if errors.Is(err, target) {
			return true
		}
	}
	m.fail("%v", err)
	return true
}

// addRefused is refused for Add: a filter has room for as many keys as it was made
// for.
func (m *model) addRefused(err error) bool {
	if errors.Is(err, filter.ErrFull) && !m.merged && m.set.Total() < m.items {
		if room := m.filter.Info().Capacity; room == 0 || room >= m.items { // it may have been shrunk
			m.fail("%v", err)
		}
	}
	return m.refused(err)
}

// sample looks at a few keys, others each time.
func (m *model) sample() {
	for i := range min(4, m.set.Len()) {
		m.want(m.set.At((5*m.step + i) % m.set.Len()))
	}
}

// want checks that the filter has a key of the set.
func (m *model) want(k filter.Key) {
	if !m.filter.MayContain(k) {
		m.fail("key %#x is in the set and was not found", k)
	}
	c, counts := m.filter.(interface{ Count(filter.Key) uint64 })
	if !counts || m.merged || m.void || len(m.loose) > 0 {
		return
	}
	if n, least := c.Count(k), min(m.set.Count(k), fewCopies); n < least {
		m.fail("key %#x was added %d times, Count says %d", k, least, n)
	}
}

// fewCopies is up to where every filter that tells copies counts them.
const fewCopies = 100

// checkAll looks at every key, at the number of keys if the filter counts, and
// inside of it.
func (m *model) checkAll() {
	for k := range m.set.All() {
		m.want(k)
	}
	m.checkInside()
	info := m.filter.Info()
	m.checkInfo(info)
	if !info.Exact || m.void || len(m.loose) > 0 {
		return
	}
	least, most := uint64(m.set.Len()), m.set.Total()
	if m.duplicates == filter.DuplicatesCounted && !m.merged {
		least = most
	}
	if info.Keys < least || info.Keys > most {
		m.fail("Info counts %d keys, there are %d distinct ones, %d with copies", info.Keys, m.set.Len(), most)
	}
}

func (m *model) checkInside() {
	if m.inside == nil {
		return
	}
	if err := m.inside(m.filter); err != nil {
		m.fail("inside: %v", err)
	}
}
