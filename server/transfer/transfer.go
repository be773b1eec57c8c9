// Package transfer copies the filters of a server into an everbloom server: those of
// RedisBloom bit by bit, and those of another everbloom.
//
// A filter is copied under a name of its own, with its time to live, and takes its place
// when it is complete. Items that are added to the source while it is copied may be missing.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/everbloom-go/everbloom/server/internal/router"
)

// Config says what to copy.
type Config struct {
	From    string // redis://[user:password@]host[:port][/database], or rediss:// for TLS
	To      string // likewise
	Replace bool   // what is there under the same name; otherwise it stays
}

// A Summary is what was done.
type Summary struct {
	Copied  int      // filters
	Bytes   int64    // of their dumps
	Kept    int      // names that were there before
	Other   int      // keys of other types, which are not copied
	Refused []string // filters that the destination does not take
}

// Copy copies all filters. After an error those that Summary counts are complete.
func Copy(ctx context.Context, c Config) (sum Summary, err error) {
	from, err := dial(ctx, c.From)
	if err != nil {
		return sum, err
	}
	defer from.close()
	to, err := dial(ctx, c.To)
	if err != nil {
		return sum, err
	}
	defer to.close()
	j := job{Config: c, from: from, to: to, seen: make(map[string]bool)}
	for cursor := "0"; ; {
		reply, err := from.do(ctx, "SCAN", cursor, "COUNT", 1000)
		if err != nil {
			return j.Summary, err
		}
		page, ok := reply.([]any)
		if !ok || len(page) != 2 {
			return j.Summary, fmt.Errorf("transfer: %s: SCAN: a reply of another form", from.name)
		}
		names, _ := page[1].([]any)
		for _, name := range names {
			if err := j.key(ctx, text(name)); err != nil {
				return j.Summary, err
			}
		}
		if cursor = text(page[0]); cursor == "0" {
			return j.Summary, nil
		}
	}
}

// text returns a reply as text.
func text(reply any) string {
	if b, ok := reply.([]byte); ok {
		return string(b)
	}
	return fmt.Sprint(reply)
}

// A job is a copy that runs.
type job struct {
	Config
	Summary
	from, to *client
	seen     map[string]bool // SCAN may return a name twice
}

// attempts is how often a filter is copied that changes meanwhile.
const attempts = 3

// key copies one key, if it is a filter.
func (j *job) key(ctx context.Context, name string) error {
	if j.seen[name] {
		return nil
	}
	j.seen[name] = true
	kind, err := j.from.do(ctx, "TYPE", name)
	if err != nil {
		return err
	}
	family := map[string]string{"MBbloom--": "BF", "MBbloomCF": "CF"}[text(kind)]
	if family == "" {
		if text(kind) != "none" {
			j.Other++
		}
		return nil
	}
	if !j.Replace {
		n, err := j.to.do(ctx, "EXISTS", name)
		if err != nil {
			return err
		}
		if n != int64(0) {
			j.Kept++
			return nil
		}
	}
	for range attempts {
		if err = j.filter(ctx, family, name); !errors.Is(err, errChanged) {
			break
		}
	}
	switch {
	case refused(err, "bad data", "create filter"): // others may be such as it knows
		j.Refused = append(j.Refused, name)
	case err != nil:
		return fmt.Errorf("%q: %w", name, err)
	}
	return nil
}

var errChanged = errors.New("transfer: the filter changed while it was copied: stop what writes to it, and run the import again")

// temporary returns the name that a filter has until it is complete. It begins with the name, as
// the user may be limited to a prefix, and has its slot, as a cluster renames within one only.
func temporary(name string) string {
	slot := router.Slot([]byte(name))
	part := name + ":everbloom-import"
	for i := 0; router.Slot([]byte(part)) != slot; i++ {
		part = fmt.Sprintf("%s:everbloom-import{%d}", name, i)
	}
	return part
}

// filter copies a filter.
func (j *job) filter(ctx context.Context, family, name string) error {
	part := temporary(name)
	if _, err := j.to.do(ctx, "DEL", part); err != nil {
		return err
	}
	size, err := j.chunks(ctx, family, name, part)
	if err == nil {
		err = j.finish(ctx, name, part)
	}
	if err != nil {
		_, dropped := j.to.do(ctx, "DEL", part)
		if errors.Is(err, errGone) {
			return dropped
		}
		return err
	}
	j.Bytes += size
	return nil
}

var errGone = errors.New("transfer: the filter is gone")

// chunks copies the content of a filter.
func (j *job) chunks(ctx context.Context, family, name, part string) (size int64, err error) {
	for cursor := any(int64(0)); ; {
		reply, err := j.from.do(ctx, family+".SCANDUMP", name, cursor)
		switch {
		case refused(err, "not found"):
			return 0, errGone
		case err != nil:
			return 0, err
		}
		pair, _ := reply.([]any)
		if len(pair) != 2 {
			return 0, fmt.Errorf("transfer: %s: %s.SCANDUMP: a reply of another form", j.from.name, family)
		}
		chunk, _ := pair[1].([]byte)
		if pair[0] == int64(0) {
			if cursor == any(int64(0)) {
				return 0, j.empty(ctx, name, part)
			}
			return size, nil
		}
		cursor = pair[0]
		switch _, err := j.to.do(ctx, family+".LOADCHUNK", part, cursor, chunk); {
		case refused(err, "invalid", "load chunk"): // it does not fit the header
			return 0, errChanged
		case err != nil:
			return 0, err
		}
		size += int64(len(chunk))
	}
}

// refused reports whether a server answers an error with one of the texts.
func refused(err error, texts ...string) bool {
	refusal := replyError("")
	return errors.As(err, &refusal) && slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(string(refusal), t) })
}

// empty makes a cuckoo filter of which RedisBloom has nothing to dump.
func (j *job) empty(ctx context.Context, name, part string) error {
	reply, err := j.from.do(ctx, "CF.INFO", name)
	if err != nil {
		return err
	}
	numbers := make(map[string]int64)
	list, _ := reply.([]any)
	for i := 0; i+1 < len(list); i += 2 {
		numbers[text(list[i])], _ = list[i+1].(int64)
	}
	size := numbers["Bucket size"]
	_, err = j.to.do(ctx, "CF.RESERVE", part, max(numbers["Number of buckets"], 2)*size, "BUCKETSIZE", size,
		"MAXITERATIONS", numbers["Max iterations"], "EXPANSION", numbers["Expansion rate"])
	return err
}

// finish gives a filter that is complete its time to live and its name.
func (j *job) finish(ctx context.Context, name, part string) error {
	left, err := j.from.do(ctx, "PTTL", name)
	if err != nil {
		return err
	}
	switch ms, ok := left.(int64); {
	case !ok:
		return fmt.Errorf("transfer: %s: PTTL: a reply of another form", j.from.name)
	case ms == -2: // it ended meanwhile: without a time to live the copy would stay
		return errGone
	case ms >= 0:
		if n, err := j.to.do(ctx, "PEXPIRE", part, max(ms, 1)); err != nil || n == int64(0) {
			return errors.Join(err, errChanged)
		}
	}
	verb := "RENAMENX"
	if j.Replace {
		verb = "RENAME"
	}
	reply, err := j.to.do(ctx, verb, part, name)
	switch {
	case refused(err, "no such key"):
		return errChanged // it ended before all of it was there
	case err != nil:
		return err
	case reply == int64(0):
		j.Kept++
		_, err = j.to.do(ctx, "DEL", part)
		return err
	}
	j.Copied++
	return nil
}
