package main

import (
	"bufio"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// batchSize is how many records are judged at once.
const batchSize = 1 << 13

// recordBatch has records that are not judged yet.
type recordBatch struct {
	records  []gate.Record
	numbers  []uint64
	verdicts []gate.Verdict
}

func newRecordBatch() *recordBatch {
	return &recordBatch{make([]gate.Record, 0, batchSize), make([]uint64, 0, batchSize), make([]gate.Verdict, batchSize)}
}

// addToBatch has a packet of the binary format, which has one word, wait until there are
// enough, or until the input waits.
func (s *gateSession) addToBatch(p *packets.Packet) error {
	b := s.batch
	b.records = append(b.records, gate.Record{Src: p.Src, Word: p.Words[0], At: p.At})
	b.numbers = append(b.numbers, p.Number)
	if len(b.records) < batchSize {
		return nil
	}
	return s.judgeBatch()
}

// judgeBatch judges the records that wait, if there are any.
func (s *gateSession) judgeBatch() error {
	b := s.batch
	if b == nil {
		return nil
	}
	s.engine.StepBatch(b.records, b.verdicts)
	records := b.records
	b.records = b.records[:0]
	defer func() { b.numbers = b.numbers[:0] }()
	var word [1]uint32
	for i, r := range records {
		word[0] = r.Word
		if err := s.record(&packets.Packet{Src: r.Src, Words: word[:], At: r.At, Number: b.numbers[i]}, b.verdicts[i], nil); err != nil {
			return err
		}
	}
	return nil
}

// idle writes what there is while the input waits.
func (s *gateSession) idle() {
	_ = s.judgeBatch() // the writers below keep the error
	s.warnOfLimit()
	for _, w := range []*bufio.Writer{s.out, s.events} {
		if w != nil {
			_ = w.Flush() // the writer keeps the error
		}
	}
}

const limitReached = "--memory: the limit is reached: beginnings of patterns, strikes and bans are given up from now on"

// warnOfLimit tells once that the limit of memory lets patterns go unnoticed.
func (s *gateSession) warnOfLimit() {
	crowded := uint64(0)
	if s.keeper != nil {
		crowded = s.keeper.Crowded()
	}
	if l := s.engine.Lost(); !s.limited && l.Chains+l.Strikes+l.Bans+crowded > 0 {
		s.limited = true
		s.say(limitReached)
	}
}
