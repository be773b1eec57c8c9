package command

import (
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// A merging is how two sets become one.
type merging uint8

const (
	mergeUnion merging = iota
	mergeIntersect
	mergeDiff
)

// mergeStep is how many keys are merged in one commit.
const mergeStep = 10_000

// merge merges sources into a destination, step by step, each an ordinary commit: other
// commands run in between. It runs in the goroutine of the connection.
func merge(how merging) func(*Call) {
	return func(c *Call) {
		if c.tx != nil {
			c.w.Err("ERR " + c.cmd.Name + " is not allowed in a transaction")
			return
		}
		if how == mergeUnion && c.env.bytes() > c.env.MaxMemory() {
			c.w.Err(outOfMemory)
			return
		}
		destination := c.args[1]
		for _, name := range c.args[2:] {
			src := c.anyFilter(name)
			if src == nil {
				return
			}
			if problem := c.mergeOne(how, destination, src); problem != "" {
				c.w.Err(problem)
				return
			}
		}
		e := c.find(destination)
		if e == nil {
			c.w.Int(0)
			return
		}
		c.w.Int(int64(e.Items()))
	}
}

// mergeOne merges one source.
func (c *Call) mergeOne(how merging, name []byte, src *store.Entry) (problem string) {
	dst, problem := c.mergeInto(how, name, src)
	if problem != "" || dst == src {
		return problem
	}
	walked := src
	if how == mergeIntersect {
		walked = dst
	}
	keys, ok := walked.Keys()
	if !ok || how != mergeUnion && (!src.Exact() || !dst.Exact()) {
		return "ERR the kind " + store.KindName(walked.Spec().Kind) + " does not store its keys: create the sets with DELETE"
	}
	var batch []filter.Key
	for k := range keys {
		if how == mergeIntersect && src.Has(k) {
			continue
		}
		if batch = append(batch, k); len(batch) == mergeStep {
			if problem := c.mergeKeys(how, name, dst, batch); problem != "" {
				return problem
			}
			batch = batch[:0]
		}
	}
	return c.mergeKeys(how, name, dst, batch)
}

// mergeInto returns the destination. A union makes it if it is missing.
func (c *Call) mergeInto(how merging, name []byte, src *store.Entry) (dst *store.Entry, problem string) {
	if src.Foreign() {
		return nil, "ERR a filter imported from RedisBloom does not store its keys"
	}
	if dst = c.find(name); dst == nil && how == mergeUnion {
		problem = c.step(func(tx *partition.Tx) string {
			if dst = tx.Find(name); dst != nil {
				return ""
			}
			spec := *src.Spec()
			spec.Expiry, spec.Items, spec.Deletes = 0, 0, 0
			var err error
			if dst, err = tx.Create(name, spec); err != nil {
				return "ERR " + err.Error()
			}
			return ""
		})
	}
	switch {
	case problem != "":
	case dst == nil:
		problem = notFound
	case !dst.SameHash(src):
		problem = "ERR the sets have different hashes"
	}
	return dst, problem
}

// mergeKeys adds keys to a set, or deletes them from it.
func (c *Call) mergeKeys(how merging, name []byte, dst *store.Entry, batch []filter.Key) string {
	return c.step(func(tx *partition.Tx) string {
		if tx.Find(name) != dst {
			return "ERR " + string(name) + " was replaced while it was merged"
		}
		for _, k := range batch {
			if how != mergeUnion {
				tx.Remove(dst, k, partition.Origin{})
			} else if tx.AddKey(dst, k, partition.Origin{}) == store.Full {
				return "ERR the set is full"
			}
		}
		return ""
	})
}

// step runs a function in the partition and waits for its commit. It returns what is wrong.
func (c *Call) step(do func(*partition.Tx) string) string {
	s := &stepUnit{do: do, done: make(chan error, 1)}
	c.env.Partition.Submit(s)
	if err := <-s.done; err != nil {
		c.closing = true
		return "ERR " + err.Error()
	}
	return s.problem
}

// A stepUnit is one step of a long command.
type stepUnit struct {
	do      func(*partition.Tx) string
	problem string
	done    chan error
}

// Decide runs the step.
func (s *stepUnit) Decide(t *partition.Tx) {
	if err := t.Refuses(); err != nil {
		s.problem = "MISCONF writes are refused because the log cannot be written: " + err.Error()
		return
	}
	s.problem = s.do(t)
}

// Restart forgets the outcome.
func (s *stepUnit) Restart() { s.problem = "" }

// Answer wakes the caller.
func (s *stepUnit) Answer(err error) { s.done <- err }
