package dpbf19

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/partition"
)

// listFile is where the addresses are in a folder with data.
const listFile = "ip/ipsum.txt.gz"

// blocklist reads the addresses of listFile in the folder with data, as ids.
// Without a folder there is no filter, and the note says so.
func blocklist(folder string) (f *partition.Filter, note string, err error) {
	if folder == "" {
		return nil, "Without --data there is no real data here. The paper's is unknown.", nil
	}
	file, err := os.Open(filepath.Join(folder, listFile))
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	packed, err := gzip.NewReader(file)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", listFile, err)
	}
	if f, err = addresses(packed); err != nil {
		return nil, "", fmt.Errorf("%s: %w", listFile, err)
	}
	return f, fmt.Sprintf("Real data: the %d IPv4 addresses of the blocklist %s. The paper's data are unknown.", f.Len(), listFile), nil
}

// addresses reads lines that begin with an IPv4 address; others are comments.
func addresses(src io.Reader) (*partition.Filter, error) {
	f, err := partition.New(wish)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(src)
	for lines.Scan() {
		word, _, _ := strings.Cut(lines.Text(), "\t")
		address, err := netip.ParseAddr(word)
		if err != nil || !address.Is4() {
			continue
		}
		four := address.As4()
		if _, err := f.Add(filter.Key(binary.BigEndian.Uint32(four[:]))); err != nil {
			return nil, err
		}
	}
	return f, lines.Err()
}
