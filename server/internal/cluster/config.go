package cluster

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"slices"
	"strconv"

	"github.com/everbloom-go/everbloom/server/internal/record"
)

// A Config says what a cluster is. The first part counts for all, the others for Connect or for
// Start.
type Config struct {
	Name      string       // of this node; no other node has it
	Namespace string       // of all names in JetStream; everbloom if empty
	Replicas  int          // copies of everything; 0: three, or as many as there are members
	LogBytes  int64        // that the log of one partition may take; 0: 8 GiB
	Cache     string       // folder for copies of images
	Logger    *slog.Logger // discards if nil

	URLs        string // of an operator's servers, with commas between them
	Credentials string // a file with credentials for them; none if empty

	TLS *tls.Config // to an operator's servers, or between members; nil: as the URLs say, none

	Dir       string // of the member's files
	Addr      string // host and port that the member listens on for other members
	Peers     []Peer // all members, this one too
	Secret    string // that members know each other by
	Advertise string // address that other members are told; that of Peers if empty
}

// A Peer is a member.
type Peer struct {
	Name string
	Addr string // host and port
}

const (
	defaultNamespace = "everbloom"
	defaultReplicas  = 3
	defaultLogBytes  = 8 << 30
	maxPayload       = 8 << 20
	headroom         = 64 << 10 // for headers and subject of a message

	// leastPayload is the size of messages that servers must allow.
	leastPayload = record.MaxSize + headroom
)

var validName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// common sets what is missing and checks what counts for Connect and Start.
func (c *Config) common() error {
	if c.Namespace == "" {
		c.Namespace = defaultNamespace
	}
	if c.LogBytes == 0 {
		c.LogBytes = defaultLogBytes
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	var errs []error
	for what, name := range map[string]string{"name": c.Name, "namespace": c.Namespace} {
		if !validName.MatchString(name) {
			errs = append(errs, fmt.Errorf("cluster: %s %q: use 1 to 64 letters, digits, - and _", what, name))
		}
	}
	if c.Replicas < 0 || c.Replicas > 5 {
		errs = append(errs, fmt.Errorf("cluster: %d copies: use 1 to 5", c.Replicas))
	}
	return errors.Join(errs...)
}

// member checks what counts for Start.
func (c *Config) member() error {
	errs := []error{c.common()}
	if c.Dir == "" {
		errs = append(errs, errors.New("cluster: a member needs a folder"))
	}
	if c.Secret == "" {
		errs = append(errs, errors.New("cluster: members need a secret, the same for all"))
	}
	seen := make(map[string]bool)
	for _, p := range c.Peers {
		if _, _, err := splitAddr(p.Addr); err != nil || !validName.MatchString(p.Name) || seen[p.Name] || seen[p.Addr] {
			errs = append(errs, fmt.Errorf("cluster: member %s=%s: each needs a name and an address host:port that no other has", p.Name, p.Addr))
		}
		seen[p.Name], seen[p.Addr] = true, true
	}
	own := slices.IndexFunc(c.Peers, func(p Peer) bool { return p.Name == c.Name })
	switch {
	case own < 0:
		errs = append(errs, fmt.Errorf("cluster: %s is not one of the members: name it with its address as the others", c.Name))
	case len(c.Peers) < 2:
		errs = append(errs, errors.New("cluster: a cluster has at least two members, and three to go on without one"))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if c.Replicas == 0 {
		c.Replicas = min(defaultReplicas, len(c.Peers))
	}
	if c.Addr == "" {
		c.Addr = c.Peers[own].Addr
	}
	if c.Advertise == "" {
		c.Advertise = c.Peers[own].Addr
	}
	return nil
}

// splitAddr returns host and port of an address.
func splitAddr(addr string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, err
	}
	port, err = strconv.Atoi(text)
	if err == nil && (port < 1 || port > 65535) {
		err = fmt.Errorf("port %d", port)
	}
	return host, port, err
}
