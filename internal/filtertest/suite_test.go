package filtertest

import (
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/merging"
)

var sink []byte

// A fault is something that is wrong with a kind, and the checks that must find it:
// those of the suite, Model and AddAndDelete.
type fault struct {
	name   string
	config ExactConfig
	hooks  hooks
	finds  string
}

var (
	counted = ExactConfig{Duplicates: filter.DuplicatesCounted}
	pinning = ExactConfig{Duplicates: filter.DuplicatesPin}
	bounded = ExactConfig{Bounded: true}
)

var faults = []fault{
	{
		name: "forgets a key in 50",
		hooks: hooks{Add: func(f *Exact, k filter.Key) (bool, error) {
			if k%50 == 7 {
				return true, nil
			}
			return f.Add(k)
		}},
		finds: "PresentKeysAreNeverDenied StructuredKeysAreNeverDenied ReadersMayShare InfoIsConsistent Model AddAndDelete",
	},
	{
		name:  "denies small keys",
		hooks: hooks{MayContain: func(f *Exact, k filter.Key) bool { return k >= 16 && f.MayContain(k) }},
		finds: "StructuredKeysAreNeverDenied Model",
	},
	{
		name:  "says yes to everything",
		hooks: hooks{MayContain: func(*Exact, filter.Key) bool { return true }},
		finds: "EmptyFilterDenies RateIsAsPredictedAndAsked",
	},
	{
		name:  "takes no keys",
		hooks: hooks{Add: func(*Exact, filter.Key) (bool, error) { return false, errPlanted }},
		finds: "PresentKeysAreNeverDenied Model AddAndDelete",
	},
	{
		name: "calls every key new",
		hooks: hooks{Add: func(f *Exact, k filter.Key) (bool, error) {
			_, err := f.Add(k)
			return true, err
		}},
		finds: "AddReportsNewKeys Model",
	},
	{
		name: "calls no key new",
		hooks: hooks{Add: func(f *Exact, k filter.Key) (bool, error) {
			_, err := f.Add(k)
			return false, err
		}},
		finds: "AddReportsNewKeys Model",
	},
	{
		name:   "loses a key when full",
		config: bounded,
		hooks: hooks{Add: func(f *Exact, k filter.Key) (bool, error) {
			added, err := f.Add(k)
			if err != nil {
				loseAny(f)
			}
			return added, err
		}},
		finds: "FullFilterRefusesWithoutChange Model",
	},
	{
		name:   "is full too early",
		config: bounded,
		hooks: hooks{Add: func(f *Exact, k filter.Key) (bool, error) {
			if f.set.Len() >= int(f.room)/2 {
				return false, filter.ErrFull
			}
			return f.Add(k)
		}},
		finds: "FullFilterRefusesWithoutChange PresentKeysAreNeverDenied Model",
	},
	{
		name:  "counts one too many",
		hooks: hooks{Info: alter(func(i *filter.Info) { i.Keys++ })},
		finds: "InfoIsConsistent EmptyFilterDenies DeleteKeepsOtherKeys Model AddAndDelete",
	},
	{
		name:  "estimates 10 % too many",
		hooks: hooks{Info: alter(func(i *filter.Info) { i.Exact, i.Keys = false, i.Keys+i.Keys/10 })},
		finds: "InfoIsConsistent",
	},
	{
		name:  "uses no memory and has an impossible fill",
		hooks: hooks{Info: alter(func(i *filter.Info) { i.FastBits, i.Fill = 0, 1.5 })},
		finds: "InfoIsConsistent Model",
	},
	{
		name: "never says it is overfull",
		hooks: hooks{Info: func(f *Exact) filter.Info {
			info := f.Info()
			info.Unbounded, info.Capacity = false, f.config.Items
			return info
		}},
		finds: "OverfullIsTold",
	},
	{
		name: "says it is overfull at its capacity",
		hooks: hooks{Info: func(f *Exact) filter.Info {
			info := f.Info()
			info.Unbounded, info.Capacity = false, f.config.Items
			info.Overfull = info.Keys >= info.Capacity
			return info
		}},
		finds: "InfoIsConsistent",
	},
	{
		name: "has no rate once it is saturated",
		hooks: hooks{Info: func(f *Exact) filter.Info {
			info := f.Info()
			if f.set.Len() > 20*int(f.config.Items) {
				info.FPR = 0.5
			}
			return info
		}},
		finds: "InfoSurvivesSaturation",
	},
	{
		name:  "has twice the rate it tells",
		hooks: hooks{MayContain: lie(0.01), Info: tell(0.005)},
		finds: "RateIsAsPredictedAndAsked",
	},
	{
		name:  "has half the rate it tells",
		hooks: hooks{MayContain: lie(0.001), Info: tell(0.002)},
		finds: "RateIsAsPredictedAndAsked",
	},
	{
		name:  "tells the truth and has twice the asked rate",
		hooks: hooks{MayContain: lie(0.002), Info: tell(0.002)}, // 0.1 % is asked, too
		finds: "RateIsAsPredictedAndAsked",
	},
	{
		name: "allocates in MayContain",
		hooks: hooks{MayContain: func(f *Exact, k filter.Key) bool {
			sink = make([]byte, 8)
			return f.MayContain(k)
		}},
		finds: "NothingIsAllocated",
	},
	{
		name:   "allocates in every 20th Add",
		config: bounded,
		hooks: hooks{Add: func(f *Exact, k filter.Key) (bool, error) {
			if f.set.Len()%20 == 0 {
				sink = make([]byte, 8)
			}
			return f.Add(k)
		}},
		finds: "NothingIsAllocated",
	},
	{
		name: "deletes nothing",
		hooks: hooks{Delete: func(f *Exact, k filter.Key) error {
			if !f.set.Has(k) {
				return filter.ErrNotFound
			}
			return nil
		}},
		finds: "DeleteKeepsOtherKeys DeleteHonoursDuplicates Model",
	},
	{
		name: "deletes another key as well",
		hooks: hooks{Delete: func(f *Exact, k filter.Key) error {
			err := f.Delete(k)
			if err == nil && k%32 == 0 {
				loseAny(f)
			}
			return err
		}},
		finds: "DeleteKeepsOtherKeys Model AddAndDelete",
	},
	{
		name:  "does not find keys that are there",
		hooks: hooks{Delete: func(*Exact, filter.Key) error { return filter.ErrNotFound }},
		finds: "DeleteKeepsOtherKeys Model AddAndDelete",
	},
	{
		name:  "pins every key",
		hooks: hooks{Delete: func(*Exact, filter.Key) error { return filter.ErrPinned }},
		finds: "DeleteKeepsOtherKeys",
	},
	{
		name: "deletes and says pinned",
		hooks: hooks{Delete: func(f *Exact, k filter.Key) error {
			if err := f.Delete(k); err != nil {
				return err
			}
			return filter.ErrPinned
		}},
		finds: "DeleteKeepsOtherKeys Model",
	},
	{
		name: "deletes absent keys without complaint",
		hooks: hooks{Delete: func(f *Exact, k filter.Key) error {
			_ = f.Delete(k)
			return nil
		}},
		finds: "DeleteRefusesAbsentKeys Model",
	},
	{
		name: "refuses absent keys and loses another",
		hooks: hooks{Delete: func(f *Exact, k filter.Key) error {
			err := f.Delete(k)
			if err != nil {
				loseAny(f)
			}
			return err
		}},
		finds: "DeleteRefusesAbsentKeys Model",
	},
	{
		name:   "deletes all copies at once",
		config: counted,
		hooks: hooks{Delete: func(f *Exact, k filter.Key) error {
			if !f.set.Remove(k) {
				return filter.ErrNotFound
			}
			return nil
		}},
		finds: "DeleteHonoursDuplicates Model AddAndDelete",
	},
	{
		name:   "keeps a copy too many",
		config: counted,
		hooks: hooks{Add: func(f *Exact, k filter.Key) (bool, error) {
			known := f.set.Has(k)
			added, err := f.Add(k)
			if known {
				_, _ = f.Add(k)
			}
			return added, err
		}},
		finds: "DeleteHonoursDuplicates Model",
	},
	{
		name:   "deletes what was added twice",
		config: pinning,
		hooks: hooks{Delete: func(f *Exact, k filter.Key) error {
			if !f.set.Remove(k) {
				return filter.ErrNotFound
			}
			return nil
		}},
		finds: "DeleteHonoursDuplicates Model AddAndDelete",
	},
	{
		name:   "keeps what it deletes",
		config: pinning,
		hooks:  hooks{Delete: func(*Exact, filter.Key) error { return nil }},
		finds:  "DeleteKeepsOtherKeys Model AddAndDelete",
	},
	{
		name:   "counts a copy too many",
		config: counted,
		hooks:  hooks{Info: alter(func(i *filter.Info) { i.Keys++ })},
		finds:  "InfoIsConsistent Model AddAndDelete",
	},
	{
		name: "loses a key in a union",
		hooks: hooks{Union: func(f *Exact, other filter.Filter) error {
			err := f.Union(other)
			if err == nil {
				loseAny(f)
			}
			return err
		}},
		finds: "UnionHasTheKeysOfBoth Model",
	},
	{
		name: "changes the other operand of a union",
		hooks: hooks{Union: func(f *Exact, other filter.Filter) error {
			err := f.Union(other)
			if err == nil {
				_ = other.(*Exact).Union(f)
			}
			return err
		}},
		finds: "UnionHasTheKeysOfBoth Model",
	},
	{
		name: "shares memory with the other operand of a union",
		hooks: hooks{Union: func(f *Exact, other filter.Filter) error {
			if o, ok := other.(*Exact); ok {
				_ = f.Union(o)
				o.set = f.set
				return nil
			}
			return f.Union(other)
		}},
		finds: "UnionHasTheKeysOfBoth Model",
	},
	{
		name:  "fails to unite its like",
		hooks: hooks{Union: func(*Exact, filter.Filter) error { return errors.New("out of luck") }},
		finds: "UnionHasTheKeysOfBoth Model",
	},
	{
		name: "takes nothing away in an intersection",
		hooks: hooks{Intersect: func(f *Exact, other filter.Filter) error {
			_, err := f.peer(other)
			return err
		}},
		finds: "IntersectionKeepsCommonKeys",
	},
	{
		name: "loses a common key in an intersection",
		hooks: hooks{Intersect: func(f *Exact, other filter.Filter) error {
			err := f.Intersect(other)
			if err == nil {
				loseAny(f)
			}
			return err
		}},
		finds: "IntersectionKeepsCommonKeys MergeWithItselfIsHarmless Model",
	},
	{
		name: "loses everything when united with itself",
		hooks: hooks{Union: func(f *Exact, other filter.Filter) error {
			if other == filter.Filter(f) {
				f.set = Set{}
			}
			return f.Union(other)
		}},
		finds: "MergeWithItselfIsHarmless Model",
	},
	{
		name: "accepts strangers",
		hooks: hooks{Union: func(f *Exact, other filter.Filter) error {
			if _, ok := other.(stranger); ok {
				return nil
			}
			return f.Union(other)
		}},
		finds: "MergeRefusesStrangers",
	},
	{
		name: "accepts other shapes and takes nothing in",
		hooks: hooks{Union: func(f *Exact, other filter.Filter) error {
			if o, ok := other.(*Exact); ok && f.config != o.config {
				return nil
			}
			return f.Union(other)
		}},
		finds: "MergeRefusesStrangers",
	},
	{
		name: "changes before it refuses",
		hooks: hooks{Union: func(f *Exact, other filter.Filter) error {
			err := f.Union(other)
			if errors.Is(err, filter.ErrIncompatible) {
				loseAny(f)
			}
			return err
		}},
		finds: "MergeRefusesStrangers",
	},
	{
		name:   "is left half united when it is full",
		config: bounded,
		hooks: hooks{Union: func(f *Exact, other filter.Filter) error {
			err := f.Union(other)
			if errors.Is(err, filter.ErrFull) {
				_, _ = f.Add(other.(*Exact).set.At(other.(*Exact).set.Len() - 1))
			}
			return err
		}},
		finds: "UnionIsAllOrNothing",
	},
	{
		name: "unites before the union is completed",
		hooks: hooks{Prepare: func(f *Exact, other filter.Filter) (func(bool) error, error) {
			return merging.OnCommit(func() {}), f.Union(other)
		}},
		finds: "PreparedUnionChangesNothing",
	},
	{
		name: "keeps a key when it is cleared",
		hooks: hooks{Clear: func(f *Exact) error {
			for f.set.Len() > 1 {
				loseAny(f)
			}
			return nil
		}},
		finds: "ClearLeavesANewFilter Model",
	},
	{
		name: "keeps its size when it is cleared",
		hooks: hooks{Clear: func(f *Exact) error {
			f.set = Set{}
			return nil
		}},
		finds: "ClearLeavesANewFilter",
	},
	{
		name:  "takes the memory that a file asks for",
		hooks: hooks{Read: generous},
		finds: "ForgedFilesCostLittle",
	},
	{
		name: "loses a key when it grows",
		hooks: hooks{Grow: func(f *Exact) error {
			loseAny(f)
			return f.Grow()
		}},
		finds: "ResizeKeepsAllKeys Model",
	},
	{
		name:  "cannot grow",
		hooks: hooks{Grow: func(*Exact) error { return filter.ErrFull }},
		finds: "ResizeKeepsAllKeys",
	},
	{
		name: "forgets its capacity when stored",
		hooks: hooks{Read: func(r io.Reader) (*Exact, error) {
			f, err := ReadExact(r)
			if err == nil {
				f.room++
			}
			return f, err
		}},
		finds: "SnapshotReadsBackEqual Model",
	},
	{
		name: "forgets a key when read",
		hooks: hooks{Read: func(r io.Reader) (*Exact, error) {
			f, err := ReadExact(r)
			if err == nil {
				loseAny(f)
			}
			return f, err
		}},
		finds: "SnapshotReadsBackEqual Model",
	},
	{
		name:  "takes its snapshot too late",
		hooks: hooks{Snapshot: func(f *Exact) io.WriterTo { return lazy{f} }},
		finds: "SnapshotIsFrozen",
	},
	{
		name:  "has an image of another filter",
		hooks: hooks{Image: func(*Exact) io.WriterTo { return NewExact(ExactConfig{}).Snapshot() }},
		finds: "ImageIsTheSnapshot",
	},
	{
		name:  "does not hear that writing failed",
		hooks: hooks{Snapshot: func(f *Exact) io.WriterTo { return deaf{f.Snapshot()} }},
		finds: "SnapshotReportsWriteErrors",
	},
	{
		name:  "trusts what it reads",
		hooks: hooks{Read: trusting},
		finds: "ReadRefusesTruncation ReadRefusesDamage",
	},
	{
		name:  "reads beyond the end",
		hooks: hooks{Read: hasty},
		finds: "ReadRefusesTruncation",
	},
	{
		name: "hides what damage is",
		hooks: hooks{Read: func(r io.Reader) (*Exact, error) {
			f, err := ReadExact(r)
			if err != nil {
				return nil, errors.New("something went wrong")
			}
			return f, nil
		}},
		finds: "ReadRefusesTruncation ReadRefusesDamage",
	},
}

func TestPlantedFaultsAreFound(t *testing.T) {
	for _, p := range faults {
		t.Run(p.name, func(t *testing.T) {
			got := failures(t, p.hooks.subject(p.config), p.finds)
			for name := range strings.FieldsSeq(p.finds) {
				if got[name] == "" || strings.HasPrefix(got[name], "panic: ") {
					t.Errorf("%s did not find it, its notes are %q", name, got[name])
				}
			}
		})
	}
}

// batching has a batch form with faults.
type batching struct {
	*Exact
	skipLast, reckless bool
}

func (f batching) AddBatch(keys []filter.Key) (done, added int, err error) {
	if f.skipLast && len(keys) > 90 {
		_, added, err = filter.AddBatch(f.Exact, keys[:len(keys)-1])
		return len(keys), added, err
	}
	return filter.AddBatch(f.Exact, keys)
}

func (f batching) MayContainBatch(keys []filter.Key, out []bool) {
	if f.reckless {
		keys = keys[:min(len(keys), len(out))]
	}
	filter.MayContainBatch(f.Exact, keys, out)
}

func batchSubject(skipLast, reckless bool) Subject {
	s := exactSubject(false, filter.DuplicatesIgnored)
	s.New = func(items uint64, _ float64) (filter.Filter, error) {
		return batching{NewExact(ExactConfig{Items: items}), skipLast, reckless}, nil
	}
	return s
}

func TestFaultyBatchesAreFound(t *testing.T) {
	const equal, bounds = "BatchEqualsSingles", "BatchMindsItsBounds"
	if got := failures(t, batchSubject(true, false), equal); got[equal] == "" {
		t.Error("a batch that skips its last key was not found")
	}
	if got := failures(t, batchSubject(false, true), bounds); got[bounds] == "" {
		t.Error("a batch that cuts its answers short was not found")
	}
	if got := failures(t, batchSubject(false, false), equal+" "+bounds); len(got) > 0 {
		t.Errorf("a correct batch was found faulty: %v", got)
	}
}

// locked is an Exact for concurrent use, which may forget keys.
type locked struct {
	mu     sync.RWMutex
	exact  *Exact
	adds   int
	forget int // every so many adds; 0 never

	forgetful bool // Clear takes out what is added later, too
}

func (f *locked) Clear() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.forgetful {
		f.forget = 3
	}
	return f.exact.Clear()
}

func (f *locked) ConcurrentUse() {}

func (f *locked) Add(k filter.Key) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.adds++; f.forget > 0 && f.adds%f.forget == 0 {
		return true, nil
	}
	return f.exact.Add(k)
}

func (f *locked) Delete(k filter.Key) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.exact.Delete(k)
}

func (f *locked) MayContain(k filter.Key) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.exact.MayContain(k)
}

func (f *locked) Info() filter.Info {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.exact.Info()
}

func (f *locked) Snapshot() io.WriterTo {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.exact.Snapshot()
}

func lockedSubject(forget int, forgetful bool) Subject {
	return Subject{Name: "locked", New: func(items uint64, _ float64) (filter.Filter, error) {
		return &locked{exact: NewExact(ExactConfig{Items: items}), forget: forget, forgetful: forgetful}, nil
	}}
}

func TestFaultyConcurrentFilterIsFound(t *testing.T) {
	const use, emptied = "ConcurrentUseIsSafe", "ConcurrentClearIsSafe"
	if got := failures(t, lockedSubject(1001, false), use); got[use] == "" {
		t.Error("a concurrent filter that forgets one key in 1001 was not found")
	}
	if got := failures(t, lockedSubject(0, true), emptied); got[emptied] == "" {
		t.Error("a concurrent filter that forgets keys after Clear was not found")
	}
	if got := failures(t, lockedSubject(0, false), use+" "+emptied); len(got) > 0 {
		t.Errorf("a correct concurrent filter was found faulty: %v", got)
	}
}

// lockFree offers of a locked filter what readers beside one writer need.
type lockFree struct{ filter.Filter }

func (lockFree) LockFreeReaders() {}

func TestFaultyLockFreeFilterIsFound(t *testing.T) {
	const name = "ReadersNeedNoLock"
	for _, forget := range []int{0, 1001} {
		s := Subject{Name: "lock-free", New: func(items uint64, _ float64) (filter.Filter, error) {
			f, err := lockedSubject(forget, false).New(items, 0)
			return lockFree{f}, err
		}}
		if got := failures(t, s, name); (got[name] != "") != (forget > 0) {
			t.Errorf("a filter that forgets one key in %d: %v", forget, got)
		}
	}
}

// TestEveryCheckCanFail holds that the faults above reach every check.
func TestEveryCheckCanFail(t *testing.T) {
	found := map[string]bool{"BatchEqualsSingles": true, "BatchMindsItsBounds": true, "ConcurrentUseIsSafe": true, "ConcurrentClearIsSafe": true, "ReadersNeedNoLock": true}
	for _, p := range faults {
		for name := range strings.FieldsSeq(p.finds) {
			found[name] = true
		}
	}
	for _, c := range slices.Concat(checks, engines) {
		if !found[c.name] {
			t.Errorf("no planted fault makes %s fail", c.name)
		}
		delete(found, c.name)
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		t.Errorf("there is no check %s", name)
	}
}

// TestHonestRatePasses is the other side of the faulty rates: a filter that errs
// as often as it tells is in order.
func TestHonestRatePasses(t *testing.T) {
	effort.OneGoroutine(t)
	const name = "RateIsAsPredictedAndAsked"
	if got := failures(t, hooks{MayContain: lie(0.001), Info: tell(0.001)}.subject(ExactConfig{}), name); len(got) > 0 {
		t.Errorf("a filter that tells its rate was found faulty: %v", got)
	}
	s := hooks{MayContain: lie(0.0005), Info: tell(0.001)}.subject(ExactConfig{})
	s.BoundOnly = true
	if got := failures(t, s, name); len(got) > 0 {
		t.Errorf("a filter that tells a bound was found faulty: %v", got)
	}
}

// TestFilterWithoutAbilitiesPasses has nothing but the three methods that every
// kind has.
func TestFilterWithoutAbilitiesPasses(t *testing.T) {
	Run(t, Subject{Name: "bare", KeyBits: 24, New: func(items uint64, _ float64) (filter.Filter, error) {
		return struct{ filter.Filter }{NewExact(ExactConfig{Items: items})}, nil
	}})
}

func TestCorrectFaultyPasses(t *testing.T) {
	if got := failures(t, hooks{}.subject(ExactConfig{}), "UnionHasTheKeysOfBoth MergeRefusesStrangers SnapshotReadsBackEqual"); len(got) > 0 {
		t.Errorf("an Exact without faults was found faulty: %v", got)
	}
}
