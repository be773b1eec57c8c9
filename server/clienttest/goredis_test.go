package clienttest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/everbloom-go/everbloom/server"
)

// start runs a server until the test ends. Settings are pairs of name and value.
func start(t *testing.T, pairs ...string) *server.Server {
	t.Helper()
	settings := server.NewSettings()
	for _, pair := range [][2]string{{"dir", filepath.Join(t.TempDir(), "data")}, {"addr", "127.0.0.1:0"}, {"http", "off"}} {
		if err := settings.Set(pair[0], pair[1]); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i < len(pairs); i += 2 {
		if err := settings.Set(pairs[i], pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	s, err := server.Open(t.Context(), settings, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

// both runs a test with a client of each version of the protocol.
func both(t *testing.T, test func(t *testing.T, c *redis.Client)) {
	t.Helper()
	s := start(t)
	for _, version := range []int{2, 3} {
		t.Run(fmt.Sprintf("RESP%d", version), func(t *testing.T) {
			c := redis.NewClient(&redis.Options{Addr: s.Addr().String(), Protocol: version})
			defer c.Close()
			if err := c.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			test(t, c)
		})
	}
}

// want compares a result.
func want[T any](t *testing.T, got T, err error, expected T) {
	t.Helper()
	if err != nil || !reflect.DeepEqual(got, expected) {
		t.Errorf("%v, %v, want %v", got, err, expected)
	}
}

func TestBloom(t *testing.T) {
	both(t, func(t *testing.T, c *redis.Client) {
		t.Helper()
		ctx := t.Context()
		added, err := c.BFAdd(ctx, "b", "x").Result()
		want(t, added, err, true)
		added, err = c.BFAdd(ctx, "b", "x").Result()
		want(t, added, err, false)
		many, err := c.BFMAdd(ctx, "b", "x", "y").Result()
		want(t, many, err, []bool{false, true})
		found, err := c.BFExists(ctx, "b", "y").Result()
		want(t, found, err, true)
		several, err := c.BFMExists(ctx, "b", "y", "z").Result()
		want(t, several, err, []bool{true, false})
		n, err := c.BFCard(ctx, "b").Result()
		want(t, n, err, 2)

		ok, err := c.BFReserve(ctx, "r", 0.001, 2000).Result()
		want(t, ok, err, "OK")
		ok, err = c.BFReserveExpansion(ctx, "r2", 0.001, 2000, 3).Result()
		want(t, ok, err, "OK")
		ok, err = c.BFReserveNonScaling(ctx, "r3", 0.001, 2000).Result()
		want(t, ok, err, "OK")
		ok, err = c.BFReserveWithArgs(ctx, "r4", &redis.BFReserveOptions{Capacity: 2000, Error: 0.001, Expansion: 3}).Result()
		want(t, ok, err, "OK")
		info, err := c.BFInfo(ctx, "r2").Result()
		if err != nil || info.Capacity != 2000 || info.ItemsInserted != 0 || info.ExpansionRate != 3 || info.Filters != 1 {
			t.Errorf("%+v, %v", info, err)
		}
		for name, get := range map[string]func() (redis.BFInfo, error){
			"Capacity":  c.BFInfoCapacity(ctx, "r2").Result,
			"Size":      c.BFInfoSize(ctx, "r2").Result,
			"Filters":   c.BFInfoFilters(ctx, "r2").Result,
			"Items":     c.BFInfoItems(ctx, "r2").Result,
			"Expansion": c.BFInfoExpansion(ctx, "r2").Result,
		} {
			if _, err := get(); err != nil {
				t.Errorf("BF.INFO %s: %v", name, err)
			}
		}
		inserted, err := c.BFInsert(ctx, "i", &redis.BFInsertOptions{Capacity: 2000, Error: 0.001, Expansion: 3}, "a", "b", "a").Result()
		want(t, inserted, err, []bool{true, true, false})
		if _, err := c.BFInsert(ctx, "missing", &redis.BFInsertOptions{NoCreate: true}, "a").Result(); err == nil {
			t.Error("NOCREATE made a filter")
		}
	})
}

func TestDumps(t *testing.T) {
	both(t, func(t *testing.T, c *redis.Client) {
		t.Helper()
		ctx := t.Context()
		for i := range 5000 {
			c.BFAdd(ctx, "b", i)
			if i < 500 {
				c.CFAdd(ctx, "c", i)
			}
		}
		for cursor := int64(0); ; {
			d, err := c.BFScanDump(ctx, "b", cursor).Result()
			if err != nil {
				t.Fatal(err)
			}
			if cursor = d.Iter; cursor == 0 {
				break
			}
			if err := c.BFLoadChunk(ctx, "b2", cursor, d.Data).Err(); err != nil {
				t.Fatal(err)
			}
		}
		for cursor := int64(0); ; {
			d, err := c.CFScanDump(ctx, "c", cursor).Result()
			if err != nil {
				t.Fatal(err)
			}
			if cursor = d.Iter; cursor == 0 {
				break
			}
			if err := c.CFLoadChunk(ctx, "c2", cursor, d.Data).Err(); err != nil {
				t.Fatal(err)
			}
		}
		dump, err := c.Dump(ctx, "b").Result()
		if err != nil {
			t.Fatal(err)
		}
		ok, err := c.Restore(ctx, "b3", 0, dump).Result()
		want(t, ok, err, "OK")
		for _, name := range []string{"b2", "b3"} {
			for i := range 5000 {
				if found, err := c.BFExists(ctx, name, i).Result(); !found || err != nil {
					t.Fatalf("%s: %d is missing, %v", name, i, err)
				}
			}
		}
		for i := range 500 {
			if gone, err := c.CFDel(ctx, "c2", i).Result(); !gone || err != nil {
				t.Fatalf("%d cannot be deleted, %v", i, err)
			}
		}
		again, err := c.Dump(ctx, "b3").Result()
		if err != nil || !bytes.Equal([]byte(again), []byte(dump)) {
			t.Error("a dump of a restored filter is another one", err)
		}
	})
}

func TestCuckoo(t *testing.T) {
	both(t, func(t *testing.T, c *redis.Client) {
		t.Helper()
		ctx := t.Context()
		added, err := c.CFAdd(ctx, "c", "x").Result()
		want(t, added, err, true)
		added, err = c.CFAddNX(ctx, "c", "x").Result()
		want(t, added, err, false)
		n, err := c.CFCount(ctx, "c", "x").Result()
		want(t, n, err, 1)
		found, err := c.CFExists(ctx, "c", "x").Result()
		want(t, found, err, true)
		several, err := c.CFMExists(ctx, "c", "x", "y").Result()
		want(t, several, err, []bool{true, false})
		gone, err := c.CFDel(ctx, "c", "x").Result()
		want(t, gone, err, true)
		ok, err := c.CFReserve(ctx, "r", 1000).Result()
		want(t, ok, err, "OK")
		ok, err = c.CFReserveExpansion(ctx, "r2", 1000, 1).Result()
		want(t, ok, err, "OK")
		ok, err = c.CFReserveBucketSize(ctx, "r3", 1000, 3).Result()
		want(t, ok, err, "OK")
		ok, err = c.CFReserveMaxIterations(ctx, "r4", 1000, 10).Result()
		want(t, ok, err, "OK")
		ok, err = c.CFReserveWithArgs(ctx, "r5", &redis.CFReserveOptions{Capacity: 2048, BucketSize: 3, MaxIterations: 10, Expansion: 2}).Result()
		want(t, ok, err, "OK")
		info, err := c.CFInfo(ctx, "r5").Result()
		if err != nil || info.BucketSize != 3 || info.MaxIteration != 10 || info.ExpansionRate != 2 || info.NumFilters != 1 {
			t.Errorf("%+v, %v", info, err)
		}
		inserted, err := c.CFInsert(ctx, "i", &redis.CFInsertOptions{Capacity: 3000}, "a", "b").Result()
		want(t, inserted, err, []bool{true, true})
		insertedNX, err := c.CFInsertNX(ctx, "i", &redis.CFInsertOptions{NoCreate: true}, "a", "z").Result()
		want(t, insertedNX, err, []int64{0, 1})
	})
}

func TestPipelinesAndTransactions(t *testing.T) {
	both(t, func(t *testing.T, c *redis.Client) {
		t.Helper()
		ctx := t.Context()
		pipe := c.Pipeline()
		var results []*redis.BoolCmd
		for i := range 1000 {
			results = append(results, pipe.BFAdd(ctx, "p", i), pipe.BFExists(ctx, "p", i))
		}
		if _, err := pipe.Exec(ctx); err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(results); i += 2 {
			if !results[i].Val() {
				t.Fatalf("%d is absent to the pipeline that added it", i/2)
			}
		}
		var del, after *redis.BoolCmd
		if _, err := c.TxPipelined(ctx, func(tx redis.Pipeliner) error {
			tx.CFAdd(ctx, "t", "x")
			del = tx.CFDel(ctx, "t", "x")
			after = tx.CFExists(ctx, "t", "x")
			return nil
		}); err != nil || !del.Val() || after.Val() {
			t.Error(err, del, after)
		}
		err := c.Watch(ctx, func(tx *redis.Tx) error {
			if err := c.BFAdd(ctx, "p", "meanwhile").Err(); err != nil {
				return err
			}
			_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.BFAdd(ctx, "p", "never")
				return nil
			})
			return err
		}, "p")
		if !errors.Is(err, redis.TxFailedErr) {
			t.Error("a watched key has changed:", err)
		}
	})
}

func TestKeys(t *testing.T) {
	both(t, func(t *testing.T, c *redis.Client) {
		t.Helper()
		ctx := t.Context()
		for i := range 300 {
			c.BFAdd(ctx, fmt.Sprintf("k%d", i), "x")
		}
		n := 0
		for it := c.Scan(ctx, 0, "k*", 10).Iterator(); it.Next(ctx); n++ {
		}
		if n != 300 {
			t.Errorf("SCAN returns %d of 300 keys", n)
		}
		if err := c.Expire(ctx, "k1", time.Hour).Err(); err != nil {
			t.Error(err)
		}
		if ttl := c.TTL(ctx, "k1").Val(); ttl != time.Hour {
			t.Error(ttl)
		}
		c.PExpire(ctx, "k2", 20*time.Millisecond)
		for deadline := time.Now().Add(20 * time.Second); c.Exists(ctx, "k2").Val() != 0; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("k2 does not end")
			}
		}
		if got := c.ConfigGet(ctx, "bf-*").Val(); got["bf-initial-size"] != "100" {
			t.Error(got)
		}
		if _, err := c.Info(ctx, "server", "memory").Result(); err != nil {
			t.Error(err)
		}
		if _, err := c.Command(ctx).Result(); err != nil {
			t.Error(err)
		}
		if _, err := c.ClientList(ctx).Result(); err != nil {
			t.Error(err)
		}
		if _, err := c.SlowLogGet(ctx, 10).Result(); err != nil {
			t.Error(err)
		}
		if _, err := c.MemoryUsage(ctx, "k3").Result(); err != nil {
			t.Error(err)
		}
	})
}

// TestTLSAndUsers logs in over TLS with a certificate that the test makes.
func TestTLSAndUsers(t *testing.T) {
	dir := t.TempDir()
	roots := writeCertificate(t, dir)
	token, line, err := server.NewToken("alice", "write", "a:")
	if err != nil {
		t.Fatal(err)
	}
	reader, readLine, _ := server.NewToken("bob", "read", "*")
	users := filepath.Join(dir, "users")
	if err := os.WriteFile(users, []byte(line+"\n"+readLine+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	start(t, "users", users, "tls-addr", addr, "tls-cert", filepath.Join(dir, "cert"), "tls-key", filepath.Join(dir, "key"))
	for _, version := range []int{2, 3} {
		options := redis.Options{Addr: addr, Protocol: version, Username: "alice", Password: token, TLSConfig: &tls.Config{RootCAs: roots, ServerName: "localhost"}, MaxRetries: -1}
		alice := redis.NewClient(&options)
		if _, err := alice.BFAdd(t.Context(), "a:set", version).Result(); err != nil {
			t.Error(err)
		}
		if err := alice.BFAdd(t.Context(), "b:set", "x").Err(); err == nil || err.Error() != "NOPERM No permissions to access a key" {
			t.Error("another prefix:", err)
		}
		if err := alice.FlushAll(t.Context()).Err(); err == nil {
			t.Error("a writer may flush")
		}
		options.Username, options.Password = "bob", reader
		bob := redis.NewClient(&options)
		found, err := bob.BFExists(t.Context(), "a:set", version).Result()
		want(t, found, err, true)
		if err := bob.BFAdd(t.Context(), "a:set", "x").Err(); err == nil {
			t.Error("a reader may write")
		}
		options.Password = "wrong"
		refused := redis.NewClient(&options)
		if err := refused.Ping(t.Context()).Err(); err == nil {
			t.Error("a wrong token is accepted")
		}
		for _, c := range []*redis.Client{alice, bob, refused} {
			c.Close()
		}
	}
}

// writeCertificate makes a certificate for localhost.
func writeCertificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert": {Type: "CERTIFICATE", Bytes: der}, "key": {Type: "EC PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return pool
}
