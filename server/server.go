package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/record"
	"github.com/everbloom-go/everbloom/server/internal/setting"
)

// Settings are what a server can be told: see [SettingTable].
type Settings = setting.Settings

// A Setting is one row of the table of settings.
type Setting = setting.Setting

// NewSettings returns the defaults.
func NewSettings() *Settings { return setting.New() }

// SettingTable returns all settings.
func SettingTable() []Setting { return setting.Table() }

// A Server serves the sets of one folder.
type Server struct {
	settings  *Settings
	logger    *slog.Logger
	folder    *folder
	shards    []atomic.Pointer[shard] // one, unless the server is part of a cluster
	host      *command.Host
	listeners []net.Listener
	web       *web
	memory    atomic.Int64 // bytes that sets may take
	idle      atomic.Int64 // nanoseconds that connections may be idle; 0 means any time
	loginTime time.Duration

	mu     sync.Mutex
	conns  map[int64]*conn
	nextID int64
	ending bool
	wg     sync.WaitGroup
	failed chan error
	stop   context.CancelFunc
}

// Open reads what is in the folder, and listens. After an error nothing is open.
func Open(ctx context.Context, settings *Settings, logger *slog.Logger) (s *Server, err error) {
	s = &Server{settings: settings, logger: logger, loginTime: loginTime, conns: make(map[int64]*conn), failed: make(chan error, 1)}
	s.configure()
	defer func() {
		if err != nil {
			err = errors.Join(err, s.release())
			s = nil
		}
	}()
	users, err := readUsers(settings.Get("users"))
	if err != nil {
		return s, err
	}
	if err := allowAddresses(settings, users != nil); err != nil {
		return s, err
	}
	s.makeHost(users)
	if err := s.openFolder(); err != nil {
		return s, err
	}
	if err := s.load(ctx); err != nil {
		return s, err
	}
	if err := s.listen(); err != nil {
		return s, err
	}
	return s, nil
}

var errNoFolder = errors.New("server: no data folder: name one with --dir")

// openFolder takes the folder, unless the log needs none.
func (s *Server) openFolder() error {
	if s.settings.Get("log") == "memory" {
		return nil
	}
	dir := s.settings.Get("dir")
	if dir == "" {
		return errNoFolder
	}
	var err error
	s.folder, err = openFolder(dir)
	return err
}

// load brings images and log into memory.
func (s *Server) load(ctx context.Context) error {
	started := time.Now()
	l, err := s.openLog()
	if err != nil {
		return advise(err)
	}
	h := &shard{server: s, log: l}
	s.shards = make([]atomic.Pointer[shard], 1)
	s.shards[0].Store(h)
	if err := h.openAlone(ctx); err != nil {
		return err
	}
	if s.folder != nil {
		if err := s.folder.mark(s.mode()); err != nil {
			return err
		}
	}
	sets, _ := h.store.Len()
	s.logger.Info("loaded", "sets", sets, "bytes", h.store.Bytes(), "took", time.Since(started).Round(time.Millisecond))
	return nil
}

// advise says what to do about a log that cannot be read.
func advise(err error) error {
	if errors.Is(err, log.ErrGap) || errors.Is(err, record.ErrDamaged) {
		return fmt.Errorf("%w: restore a copy of the folder", err)
	}
	return err
}

// newHash returns the hash of a folder that is new.
func (s *Server) newHash() filter.Hash {
	if s.settings.Get("hash") == "xxh3" {
		return filter.Hash{}
	}
	return filter.NewSipHash()
}

// makeHost puts together what commands need, but for the sets.
func (s *Server) makeHost(users *command.Users) {
	table := command.NewTable()
	s.host = &command.Host{
		Table: table, Settings: s.settings, Users: users, Clients: s,
		Slow: command.NewSlowLog(s.settings), Stats: command.NewStats(table), MaxMemory: s.maxMemory, Configure: s.configure,
		Started: time.Now(), RunID: rand.Text(), Version: version(), Shutdown: func() { s.fatal(nil) },
	}
}

// version returns the release of everbloom.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// unknownMemory is taken for the memory of a machine that does not tell.
const unknownMemory = 4 << 30

// configure takes over the settings that every command asks for.
func (s *Server) configure() {
	limit := int64(s.settings.Number("maxmemory"))
	if limit == 0 {
		total, ok := mem.Total()
		if !ok {
			total = unknownMemory
		}
		limit = int64(total / 4 * 3)
	}
	s.memory.Store(limit)
	s.idle.Store(int64(time.Duration(s.settings.Number("timeout")) * time.Second))
}

// maxMemory returns how many bytes sets may take.
func (s *Server) maxMemory() int64 { return s.memory.Load() }

// report tells the operator about the log.
func (s *Server) report(text string, err error) {
	if err != nil {
		s.logger.Error(text, "error", err)
		return
	}
	s.logger.Info(text)
}

// fatal ends the server.
func (s *Server) fatal(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// Serve serves until ctx ends, SHUTDOWN is called or the server cannot go on, which is an
// error. Then everything is closed.
func (s *Server) Serve(ctx context.Context) error {
	ctx, s.stop = context.WithCancel(ctx)
	defer s.stop()
	for _, l := range s.listeners {
		s.wg.Go(func() { s.accept(l) })
	}
	s.web.start(ctx, s)
	s.wg.Go(func() { newCollector().run(ctx) })
	s.wg.Go(func() { s.first().keeper.run(ctx) })
	var err error
	select {
	case <-ctx.Done():
	case err = <-s.failed:
		s.stop()
	}
	return errors.Join(err, s.close())
}

// close ends connections, then what is behind them.
func (s *Server) close() error {
	s.mu.Lock()
	s.ending = true
	for _, c := range s.conns {
		c.interrupt()
	}
	s.mu.Unlock()
	for _, l := range s.listeners {
		_ = l.Close() // nothing can be done about it
	}
	s.web.close()
	s.wg.Wait()
	err := s.release()
	s.logger.Info("ended")
	return err
}

// release closes what is open.
func (s *Server) release() error {
	for _, l := range s.listeners {
		_ = l.Close() // it may be closed already
	}
	if s.web != nil {
		s.web.close()
	}
	var errs []error
	for h := range s.open() {
		errs = append(errs, h.close())
	}
	if s.folder != nil {
		errs = append(errs, s.folder.close())
	}
	return errors.Join(errs...)
}

// Addr returns the address of the Redis protocol.
func (s *Server) Addr() net.Addr { return s.listeners[0].Addr() }

// WebAddr returns the address of the console and of /metrics, nil if there is none.
func (s *Server) WebAddr() net.Addr { return s.web.addr() }

// readUsers reads the file of users; no file means that no login is needed.
func readUsers(path string) (*command.Users, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("server: users: %w", err)
	}
	defer func() { _ = f.Close() }()
	users, err := command.ReadUsers(f)
	if err != nil {
		return nil, fmt.Errorf("server: users: %s: %w", path, err)
	}
	return users, nil
}

// NewToken returns a random token for a user, and the line of the file of users for it.
func NewToken(name, role, prefix string) (token, line string, err error) {
	return command.NewToken(name, role, prefix)
}
