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
	finds  string
	hooks  hooks
}

var (
	plain   = ExactConfig{}
	counted = ExactConfig{Duplicates: filter.DuplicatesCounted}
	pinning = ExactConfig{Duplicates: filter.DuplicatesPin}
	bounded = ExactConfig{Bounded: true}
)

var faults = []fault{
	{"forgets a key in 50", plain, "NoFalseNegatives ReadersMayShare InfoIsConsistent Model AddAndDelete", hooks{Add: func(f *Exact, k filter.Key) (bool, error) {
		if k%50 == 7 {
			return true, nil
		}
		return f.Add(k)
	}}},
	{"misses small keys", plain, "Model", hooks{MayContain: func(f *Exact, k filter.Key) bool { return k >= 16 && f.MayContain(k) }}},
	{"finds everything", plain, "EmptyFilterHasNoKeys RateIsAsPredictedAndAsked", hooks{MayContain: func(*Exact, filter.Key) bool { return true }}},
	{"takes no keys", plain, "NoFalseNegatives Model AddAndDelete", hooks{Add: func(*Exact, filter.Key) (bool, error) { return false, errPlanted }}},
	{"calls every key new", plain, "Model", hooks{Add: func(f *Exact, k filter.Key) (bool, error) {
		_, err := f.Add(k)
		return true, err
	}}},
	{"calls no key new", plain, "Model", hooks{Add: func(f *Exact, k filter.Key) (bool, error) {
		_, err := f.Add(k)
		return false, err
	}}},
	{"loses a key when full", bounded, "FullFilterRefusesWithoutChange Model", hooks{Add: func(f *Exact, k filter.Key) (bool, error) {
		added, err := f.Add(k)
		if err != nil {
			loseAny(f)
		}
		return added, err
	}}},
	{"is full too early", bounded, "FullFilterRefusesWithoutChange NoFalseNegatives Model", hooks{Add: func(f *Exact, k filter.Key) (bool, error) {
		if f.set.Len() >= int(f.room)/2 {
			return false, filter.ErrFull
		}
		return f.Add(k)
	}}},
	{"counts one too many", plain, "InfoIsConsistent EmptyFilterHasNoKeys DeleteKeepsOtherKeys Model AddAndDelete", hooks{Info: alter(func(i *filter.Info) { i.Keys++ })}},
	{"estimates 10 % too many", plain, "InfoIsConsistent", hooks{Info: alter(func(i *filter.Info) { i.Exact, i.Keys = false, i.Keys+i.Keys/10 })}},
	{"uses no memory and has an impossible fill", plain, "InfoIsConsistent Model", hooks{Info: alter(func(i *filter.Info) { i.FastBits, i.Fill = 0, 1.5 })}},
	{"never says it is overfull", plain, "OverfullIsTold", hooks{Info: func(f *Exact) filter.Info {
		info := f.Info()
		info.Unbounded, info.Capacity = false, f.config.Items
		return info
	}}},
	{"says it is overfull at its capacity", plain, "OverfullIsTold", hooks{Info: func(f *Exact) filter.Info {
		info := f.Info()
		info.Unbounded, info.Capacity = false, f.config.Items
		info.Overfull = info.Keys >= info.Capacity
		return info
	}}},
	{"has no rate once it is saturated", plain, "InfoSurvivesSaturation", hooks{Info: func(f *Exact) filter.Info {
		info := f.Info()
		if f.set.Len() > 20*int(f.config.Items) {
			info.FPR = 0.5
		}
		return info
	}}},
	{"has twice the rate it tells", plain, "RateIsAsPredictedAndAsked", hooks{MayContain: lie(0.01), Info: tell(0.005)}},
	{"has half the rate it tells", plain, "RateIsAsPredictedAndAsked", hooks{MayContain: lie(0.001), Info: tell(0.002)}},
	{"tells the truth and has twice the asked rate", plain, "RateIsAsPredictedAndAsked", hooks{MayContain: lie(0.002), Info: tell(0.002)}},
	{"allocates in MayContain", plain, "NothingIsAllocated", hooks{MayContain: func(f *Exact, k filter.Key) bool {
		sink = make([]byte, 8)
		return f.MayContain(k)
	}}},
	{"allocates in every 20th Add", bounded, "NothingIsAllocated", hooks{Add: func(f *Exact, k filter.Key) (bool, error) {
		if f.set.Len()%20 == 0 {
			sink = make([]byte, 8)
		}
		return f.Add(k)
	}}},
	{"allocates in Delete", plain, "NothingIsAllocated", hooks{Delete: func(f *Exact, k filter.Key) error {
		sink = make([]byte, 8)
		return f.Delete(k)
	}}},
	{"deletes nothing", plain, "DeleteKeepsOtherKeys Model", hooks{Delete: func(f *Exact, k filter.Key) error {
		if !f.set.Has(k) {
			return filter.ErrNotFound
		}
		return nil
	}}},
	{"deletes another key as well", plain, "DeleteKeepsOtherKeys Model AddAndDelete", hooks{Delete: func(f *Exact, k filter.Key) error {
		err := f.Delete(k)
		if err == nil && k%32 == 0 {
			loseAny(f)
		}
		return err
	}}},
	{"does not find keys that are there", plain, "DeleteKeepsOtherKeys Model AddAndDelete", hooks{Delete: func(*Exact, filter.Key) error { return filter.ErrNotFound }}},
	{"pins every key", plain, "DeleteKeepsOtherKeys", hooks{Delete: func(*Exact, filter.Key) error { return filter.ErrPinned }}},
	{"pins some keys and grows", plain, "DeleteKeepsOtherKeys", hooks{Delete: func(f *Exact, k filter.Key) error {
		if k%64 == 1 {
			f.room++
			return filter.ErrPinned
		}
		return f.Delete(k)
	}}},
	{"deletes and says pinned", plain, "DeleteKeepsOtherKeys Model", hooks{Delete: func(f *Exact, k filter.Key) error {
		if err := f.Delete(k); err != nil {
			return err
		}
		return filter.ErrPinned
	}}},
	{"deletes absent keys without complaint", plain, "DeleteRefusesAbsentKeys Model", hooks{Delete: func(f *Exact, k filter.Key) error {
		_ = f.Delete(k)
		return nil
	}}},
	{"refuses absent keys and loses another", plain, "DeleteRefusesAbsentKeys Model", hooks{Delete: func(f *Exact, k filter.Key) error {
		err := f.Delete(k)
		if err != nil {
			loseAny(f)
		}
		return err
	}}},
	{"deletes all copies at once", counted, "Model AddAndDelete", hooks{Delete: func(f *Exact, k filter.Key) error {
		if !f.set.Remove(k) {
			return filter.ErrNotFound
		}
		return nil
	}}},
	{"keeps a copy too many", counted, "Model", hooks{Add: func(f *Exact, k filter.Key) (bool, error) {
		known := f.set.Has(k)
		added, err := f.Add(k)
		if known {
			_, _ = f.Add(k)
		}
		return added, err
	}}},
	{"deletes what was added twice", pinning, "Model AddAndDelete", hooks{Delete: func(f *Exact, k filter.Key) error {
		if !f.set.Remove(k) {
			return filter.ErrNotFound
		}
		return nil
	}}},
	{"keeps what it deletes", pinning, "DeleteKeepsOtherKeys Model AddAndDelete", hooks{Delete: func(*Exact, filter.Key) error { return nil }}},
	{"counts a copy too many", counted, "InfoIsConsistent Model AddAndDelete", hooks{Info: alter(func(i *filter.Info) { i.Keys++ })}},
	{"loses a key in a union", plain, "UnionHasTheKeysOfBoth Model", hooks{Union: thenLose((*Exact).Union)}},
	{"changes the other operand of a union", plain, "UnionHasTheKeysOfBoth Model", hooks{Union: func(f *Exact, other filter.Filter) error {
		err := f.Union(other)
		if err == nil {
			_ = other.(*Exact).Union(f)
		}
		return err
	}}},
	{"shares memory with the other operand of a union", plain, "UnionHasTheKeysOfBoth Model", hooks{Union: func(f *Exact, other filter.Filter) error {
		if o, ok := other.(*Exact); ok {
			_ = f.Union(o)
			o.set = f.set
			return nil
		}
		return f.Union(other)
	}}},
	{"fails to unite its like", plain, "UnionHasTheKeysOfBoth Model", hooks{Union: func(*Exact, filter.Filter) error { return errors.New("out of luck") }}},
	{"takes nothing away in an intersection", plain, "IntersectionKeepsCommonKeys", hooks{Intersect: func(f *Exact, other filter.Filter) error {
		_, err := f.peer(other)
		return err
	}}},
	{"loses a common key in an intersection", plain, "IntersectionKeepsCommonKeys Model", hooks{Intersect: thenLose((*Exact).Intersect)}},
	{"loses everything when united with itself", plain, "Model", hooks{Union: func(f *Exact, other filter.Filter) error {
		if other == filter.Filter(f) {
			f.set = Set{}
		}
		return f.Union(other)
	}}},
	{"accepts other kinds", plain, "MergeRefusesOtherKinds", hooks{Union: func(f *Exact, other filter.Filter) error {
		if _, ok := other.(otherKind); ok {
			return nil
		}
		return f.Union(other)
	}}},
	{"accepts other shapes and takes nothing in", plain, "MergeRefusesOtherKinds", hooks{Union: func(f *Exact, other filter.Filter) error {
		if o, ok := other.(*Exact); ok && f.config != o.config {
			return nil
		}
		return f.Union(other)
	}}},
	{"changes before it refuses", plain, "MergeRefusesOtherKinds", hooks{Union: func(f *Exact, other filter.Filter) error {
		err := f.Union(other)
		if errors.Is(err, filter.ErrIncompatible) {
			loseAny(f)
		}
		return err
	}}},
	{"is left half united when it is full", bounded, "UnionIsAllOrNothing", hooks{Union: func(f *Exact, other filter.Filter) error {
		err := f.Union(other)
		if errors.Is(err, filter.ErrFull) {
			_, _ = f.Add(other.(*Exact).set.At(other.(*Exact).set.Len() - 1))
		}
		return err
	}}},
	{"unites before the union is completed", plain, "PreparedUnionChangesNothing", hooks{Prepare: func(f *Exact, other filter.Filter) (func(bool) error, error) {
		return merging.OnCommit(func() {}), f.Union(other)
	}}},
	{"keeps a key when it is cleared", plain, "ClearLeavesANewFilter Model", hooks{Clear: func(f *Exact) error {
		for f.set.Len() > 1 {
			loseAny(f)
		}
		return nil
	}}},
	{"keeps its size when it is cleared", plain, "ClearLeavesANewFilter", hooks{Clear: func(f *Exact) error {
		f.set = Set{}
		return nil
	}}},
	{"takes the memory that a file asks for", plain, "ForgedFilesCostLittle", hooks{Read: generous}},
	{"loses a key when it grows", plain, "ResizeKeepsAllKeys Model", hooks{Grow: func(f *Exact) error {
		loseAny(f)
		return f.Grow()
	}}},
	{"cannot grow", plain, "ResizeKeepsAllKeys", hooks{Grow: func(*Exact) error { return filter.ErrFull }}},
	{"forgets its capacity when stored", plain, "SnapshotReadsBackEqual Model", hooks{Read: after(func(f *Exact) error { f.room++; return nil })}},
	{"forgets a key when read", plain, "SnapshotReadsBackEqual Model", hooks{Read: after(forget)}},
	{"takes its snapshot too late", plain, "SnapshotIsFrozen", hooks{Snapshot: func(f *Exact) io.WriterTo { return lazy{f} }}},
	{"has an image of another filter", plain, "ImageIsTheSnapshot", hooks{Image: func(*Exact) io.WriterTo { return NewExact(ExactConfig{}).Snapshot() }}},
	{"does not hear that writing failed", plain, "SnapshotReportsWriteErrors", hooks{Snapshot: func(f *Exact) io.WriterTo { return deaf{f.Snapshot()} }}},
	{"trusts what it reads", plain, "ReadRefusesTruncation", hooks{Read: trusting}},
	{"reads beyond the end", plain, "ReadRefusesTruncation", hooks{Read: hasty}},
	{"hides what damage is", plain, "ReadRefusesTruncation", hooks{Read: func(r io.Reader) (*Exact, error) {
		f, err := ReadExact(r)
		if err != nil {
			return nil, errors.New("something went wrong")
		}
		return f, nil
	}}},
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
	const equal, bounds = "BatchEqualsSingles", "BatchKeepsItsBounds"
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
	found := map[string]bool{"BatchEqualsSingles": true, "BatchKeepsItsBounds": true, "ConcurrentUseIsSafe": true, "ConcurrentClearIsSafe": true, "ReadersNeedNoLock": true}
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
	if got := failures(t, hooks{}.subject(ExactConfig{}), "UnionHasTheKeysOfBoth MergeRefusesOtherKinds SnapshotReadsBackEqual"); len(got) > 0 {
		t.Errorf("an Exact without faults was found faulty: %v", got)
	}
}
