package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/everbloom-go/everbloom/server/internal/image"
)

const (
	chunkSize   = 1 << 20
	chunkWindow = 8 // chunks on their way
	chunkTime   = 30 * time.Second
	attempts    = 3
	betweenThem = 3 * time.Second // of storing a file: a stream may be electing a leader
	orphanAge   = time.Hour       // of objects that no directory names, before they are removed
)

// objects is an object store of JetStream.
type objects struct {
	cluster *Cluster
	bucket  string
	store   jetstream.ObjectStore
	stream  jetstream.Stream
}

// openObjects opens the object store of a partition, or makes it.
func (c *Cluster) openObjects(ctx context.Context, partition int) (*objects, error) {
	o := &objects{cluster: c, bucket: fmt.Sprintf("%s-images-%d", c.config.Namespace, partition)}
	err := again(ctx, func() (err error) {
		ctx, cancel := context.WithTimeout(ctx, 5*requestTime)
		defer cancel()
		o.store, err = c.js.ObjectStore(ctx, o.bucket)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			o.store, err = c.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: o.bucket, Storage: jetstream.FileStorage, Replicas: c.config.Replicas})
		}
		if err == nil {
			o.stream, err = c.js.Stream(ctx, "OBJ_"+o.bucket)
		}
		return c.explain(err)
	})
	if err != nil {
		return nil, fmt.Errorf("cluster: object store %s: %w", o.bucket, err)
	}
	return o, nil
}

func (o *objects) chunkSubject(id string) string { return "$O." + o.bucket + ".C." + id }

func (o *objects) metaSubject(id string) string {
	return "$O." + o.bucket + ".M." + base64.URLEncoding.EncodeToString([]byte(id))
}

// put stores what r has as an object that is new, and returns its length and digest. A few
// chunks are on their way at a time: the servers refuse many.
func (o *objects) put(ctx context.Context, id string, r io.Reader) (stored, error) {
	info := &jetstream.ObjectInfo{
		Bucket: o.bucket, NUID: id, ModTime: time.Now().UTC(),
		ObjectMeta: jetstream.ObjectMeta{Name: id, Opts: &jetstream.ObjectMetaOptions{ChunkSize: chunkSize}},
	}
	h := sha256.New()
	w := window{js: o.cluster.js}
	for chunk := make([]byte, chunkSize); ; {
		n, err := io.ReadFull(r, chunk)
		if n > 0 {
			h.Write(chunk[:n])
			info.Size, info.Chunks = info.Size+uint64(n), info.Chunks+1
			if err := w.send(ctx, &nats.Msg{Subject: o.chunkSubject(id), Data: chunk[:n]}); err != nil {
				return stored{}, err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return stored{}, err
		}
	}
	if err := w.wait(ctx, 0); err != nil {
		return stored{}, err
	}
	info.Digest = jetstream.GetObjectDigestValue(h)
	b, err := json.Marshal(info)
	if err != nil {
		return stored{}, err
	}
	meta := &nats.Msg{Subject: o.metaSubject(id), Data: b, Header: nats.Header{jetstream.MsgRollup: {jetstream.MsgRollupSubject}}}
	if err := w.send(ctx, meta); err != nil {
		return stored{}, err
	}
	return stored{ID: id, Size: int64(info.Size), Digest: info.Digest}, w.wait(ctx, 0)
}

// A window is what was published and not acknowledged. Messages are stored in the order in
// which they are sent, or that is an error.
type window struct {
	js   jetstream.JetStream
	out  []jetstream.PubAckFuture
	last uint64 // position of the last one that was acknowledged
}

// send publishes a message, and waits if many are on their way. The client must not send it
// again by itself: that would be behind later ones, and with bytes that have changed.
func (w *window) send(ctx context.Context, m *nats.Msg) error {
	future, err := w.js.PublishMsgAsync(m, jetstream.WithRetryAttempts(0))
	if err != nil {
		return err
	}
	w.out = append(w.out, future)
	return w.wait(ctx, chunkWindow)
}

// wait waits until at most n are on their way.
func (w *window) wait(ctx context.Context, n int) error {
	for ; len(w.out) > n; w.out = w.out[1:] {
		if err := w.acknowledged(ctx, w.out[0]); err != nil {
			return err
		}
	}
	return nil
}

// acknowledged waits for the answer to a message.
func (w *window) acknowledged(ctx context.Context, f jetstream.PubAckFuture) error {
	ctx, cancel := context.WithTimeout(ctx, chunkTime)
	defer cancel()
	select {
	case ack := <-f.Ok():
		if ack.Sequence <= w.last {
			return fmt.Errorf("a chunk is stored at %d, behind one at %d", ack.Sequence, w.last)
		}
		w.last = ack.Sequence
		return nil
	case err := <-f.Err():
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// get writes an object to w, and checks it. image.ErrDamaged: it is not there, or not what was
// stored.
func (o *objects) get(ctx context.Context, f stored, w io.Writer) error {
	r, err := o.store.Get(ctx, f.ID)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return fmt.Errorf("%w: %w: %w", image.ErrDamaged, fs.ErrNotExist, err)
	}
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, h), r)
	if errors.Is(err, jetstream.ErrDigestMismatch) || err == nil && (n != f.Size || jetstream.GetObjectDigestValue(h) != f.Digest) {
		return fmt.Errorf("object %s has %d of %d bytes, or another digest: %w", f.ID, n, f.Size, image.ErrDamaged)
	}
	return err
}

// remove removes an object, or what there is of it.
func (o *objects) remove(ctx context.Context, id string) error {
	return errors.Join(
		o.stream.Purge(ctx, jetstream.WithPurgeSubject(o.metaSubject(id))),
		o.stream.Purge(ctx, jetstream.WithPurgeSubject(o.chunkSubject(id))),
	)
}

// sweep removes objects of an age that are not in use: a node ended before they were complete, or
// before they were removed.
func (o *objects) sweep(ctx context.Context, age time.Duration, uses func(id string) bool) error {
	prefix := o.chunkSubject("")
	info, err := o.stream.Info(ctx, jetstream.WithSubjectFilter(prefix+"*"))
	if err != nil {
		return err
	}
	for subject := range info.State.Subjects {
		id := strings.TrimPrefix(subject, prefix)
		if uses(id) {
			continue
		}
		m, err := o.stream.GetLastMsgForSubject(ctx, subject)
		if err == nil && time.Since(m.Time) > age {
			err = o.remove(ctx, id)
		}
		if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
			return err
		}
	}
	return nil
}
