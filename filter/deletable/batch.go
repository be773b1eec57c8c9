package deletable

import "github.com/everbloom-go/everbloom/filter"

// AddBatch adds the keys in order. It never fails.
func (f *Filter) AddBatch(keys []filter.Key) (done, added int, err error) {
	for _, k := range keys {
		if isNew, _ := f.Add(k); isNew {
			added++
		}
	}
	return len(keys), added, nil
}
