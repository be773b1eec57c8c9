package filtertest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// Model runs random commands on filters of s and on the exact reference, and
// fails as soon as they disagree. The same seed gives the same commands.
func Model(t *testing.T, s Subject, seed uint64, operations int) {
	t.Helper()
	runModel(t, s, fmt.Sprintf("seed %d", seed), &tape{dice: rand.New(rand.NewPCG(seed, 0))}, operations)
}

// Fuzz lets the fuzzer write the commands. The first bytes of an input are the
// geometry, tiny on purpose, the others a list of commands with their arguments.
func Fuzz(f *testing.F, s Subject) {
	f.Helper()
	for _, script := range seedScripts() {
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		runModel(t, s, "script", &tape{script: script}, maxScript)
	})
}

// maxScript is how many commands of one input are run: more would slow the
// fuzzer down and find nothing that fewer do not.
const maxScript = 2000

// runModel runs commands until the tape or the operations are over.
func runModel(tb testing.TB, s Subject, origin string, t *tape, operations int) {
	tb.Helper()
	newModel(tb, s, origin, t).play(operations)
}

// newModel reads the first geometry from the tape.
func newModel(tb testing.TB, s Subject, origin string, t *tape) *model {
	tb.Helper()
	m := &model{checker: checker{tb, s}, tape: t, origin: origin, commands: commandsByValue()}
	m.restart()
	return m
}

// play runs the commands, looks at a few keys after each, and at all in the end.
func (m *model) play(operations int) {
	for m.step = 0; m.step < operations && !m.tape.over() && !m.Failed(); m.step++ {
		c := &m.commands[m.tape.next()]
		m.command = c.name
		c.run(m)
		m.sample()
	}
	m.command = "the last look"
	m.checkAll()
}

// A model is a filter beside the reference that says what must be in it.
type model struct {
	checker
	tape     *tape
	commands [256]command
	origin   string // of the commands, for messages
	step     int
	command  string // the one being run

	filter filter.Filter
	items  uint64
	fpr    float64
	stream Stream
	pool   int // how many different keys there are: few, so that they come back

	// What the filter must have. Where duplicates are ignored every count is 1.
	set Set

	// Keys that an intersection may have left or not.
	loose map[filter.Key]bool

	duplicates filter.Duplicates
	unequal    bool // filters made for the same wish may have grown apart
	merged     bool // copies of keys may take room
}

// restart begins anew with another geometry.
func (m *model) restart() {
	m.items = uint64(1 + m.tape.next()%64)
	if m.tape.dice != nil {
		m.items <<= m.tape.next() % 7
	}
	m.fpr = []float64{0.3, 0.1, 0.01, 0.0001}[m.tape.next()%4]
	m.stream = m.s.stream(uint64(m.tape.next()))
	m.pool = 3*int(m.items) + 8
	m.empty()
}

// empty begins anew with the same geometry.
func (m *model) empty() {
	m.filter = m.make(m.items, m.fpr)
	m.set, m.loose, m.merged = Set{}, make(map[filter.Key]bool), false
	info := m.filter.Info()
	m.duplicates = info.Duplicates
	m.unequal = info.Unbounded || filter.AbilitiesOf(m.filter).Resize
}

// sibling returns a model of the same geometry after some commands that are fit
// for it.
func (m *model) sibling(commands int) *model {
	o := *m
	o.empty()
	for range commands {
		if c := &m.commands[m.tape.next()]; c.simple {
			c.run(&o)
		}
	}
	return &o
}

// key returns a key of the pool, present or not. Some seeds stand for keys that
// are not hashed at all.
func (m *model) key() filter.Key {
	i := uint64(m.tape.below(m.pool))
	if m.stream.Seed%8 == 0 {
		return filter.Key(i)
	}
	return m.stream.Present(i)
}

// present returns a key of the set, if it has one.
func (m *model) present() (k filter.Key, ok bool) {
	if m.set.Len() == 0 {
		return 0, false
	}
	return m.set.At(m.tape.below(1<<16) % m.set.Len()), true
}

// fail reports what is wrong and ends the run.
func (m *model) fail(format string, args ...any) {
	m.Fatalf("%s, command %d, %s, filter for %d keys at rate %g with %d keys: %s",
		m.origin, m.step, m.command, m.items, m.fpr, m.set.Len(), fmt.Sprintf(format, args...))
}

// refusedLawfully reports whether err is one that changes nothing and that a
// filter may give at any time; other errors fail the test.
func (m *model) refusedLawfully(err error, lawful ...error) bool {
	if err == nil {
		return false
	}
	for _, target := range append(lawful, filter.ErrFull, filter.ErrStorage, errors.ErrUnsupported) {
		if errors.Is(err, target) {
			return true
		}
	}
	m.fail("%v", err)
	return true
}

// addRefused is refusedLawfully for Add: a filter has room for as many keys as it
// was made for.
func (m *model) addRefused(err error) bool {
	if errors.Is(err, filter.ErrFull) && !m.merged && m.set.Total() < m.items {
		if room := m.filter.Info().Capacity; room == 0 || room >= m.items { // it may have been shrunk
			m.fail("%v", err)
		}
	}
	return m.refusedLawfully(err)
}

// sample looks at a few keys, others each time.
func (m *model) sample() {
	for i := range min(4, m.set.Len()) {
		if k := m.set.At((5*m.step + i) % m.set.Len()); !m.filter.MayContain(k) {
			m.fail("key %#x is in the set and was denied", k)
		}
	}
}

// checkAll looks at every key, and at the number of keys if the filter counts.
func (m *model) checkAll() {
	for k := range m.set.All() {
		if !m.filter.MayContain(k) {
			m.fail("key %#x is in the set and was denied", k)
		}
	}
	info := m.filter.Info()
	m.checkInfo(info)
	if !info.Exact || len(m.loose) > 0 {
		return
	}
	least, most := uint64(m.set.Len()), m.set.Total()
	if info.Keys < least || info.Keys > most {
		m.fail("Info counts %d keys, there are %d distinct ones, %d with copies", info.Keys, least, most)
	}
}
