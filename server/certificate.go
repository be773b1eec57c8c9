package server

import (
	"crypto/tls"
	"os"
	"sync"
	"time"
)

// certificates is a certificate in files that may be replaced while the server runs.
type certificates struct {
	cert, key string

	mu     sync.Mutex
	loaded *tls.Certificate
	times  [2]time.Time // of the files when they were read
	looked time.Time
}

// lookEvery is how often the files are looked at.
const lookEvery = 10 * time.Second

// get returns the certificate. If new files cannot be read the old one stays.
func (c *certificates) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded != nil && time.Since(c.looked) < lookEvery {
		return c.loaded, nil
	}
	c.looked = time.Now()
	var times [2]time.Time
	for i, path := range []string{c.cert, c.key} {
		if info, err := os.Stat(path); err == nil {
			times[i] = info.ModTime()
		}
	}
	if c.loaded != nil && times == c.times {
		return c.loaded, nil
	}
	cert, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil && c.loaded == nil {
		return nil, err
	}
	if err == nil {
		c.loaded, c.times = &cert, times
	}
	return c.loaded, nil
}
