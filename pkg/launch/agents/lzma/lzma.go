// Package lzma unpacks what "xz --format=lzma" packed: a program in it is a fifth smaller
// than gzip makes it. Only the unpacking is here, after the LZMA specification (7-zip.org/sdk.html).
package lzma

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrDamaged says that the bytes are not a whole LZMA file.
var ErrDamaged = errors.New("lzma: the file is damaged")

const (
	headerSize   = 13 // properties, size of the dictionary, size of the content
	states       = 12
	posStates    = 16 // 1 << the most bits of the position that choose a probability
	lenToPos     = 4
	endPosModel  = 14
	fullDistance = 1 << (endPosModel / 2)
	alignBits    = 4
	minMatch     = 2
	noSize       = 1<<64 - 1
)

// Unpack returns the content of a file, of at most so many bytes.
func Unpack(packed []byte, most int) ([]byte, error) {
	if len(packed) < headerSize+rangeBytes || packed[0] >= 9*5*5 {
		return nil, ErrDamaged
	}
	size := binary.LittleEndian.Uint64(packed[5:])
	if size != noSize && size > uint64(most) {
		return nil, fmt.Errorf("lzma: %d bytes are more than %d", size, most)
	}
	d := newDecoder(packed, most)
	for size == noSize || uint64(len(d.out)) < size {
		end, err := d.next()
		if err != nil {
			return nil, err
		}
		if end {
			break
		}
	}
	if d.code.short || size != noSize && uint64(len(d.out)) != size {
		return nil, ErrDamaged
	}
	return d.out, nil
}

// decoder is the state of the machine that the specification describes: the last kinds of
// packets (state), the last four distances (rep), and a probability for each decision.
type decoder struct {
	code                             rangeDecoder
	out                              []byte
	most                             int
	lc, lp                           uint
	posMask                          int
	state                            int
	rep                              [4]uint32
	literals                         []prob
	isMatch, isRep0Long              [states * posStates]prob
	isRep, isRepG0, isRepG1, isRepG2 [states]prob
	posSlot                          [lenToPos][64]prob
	special                          [1 + fullDistance - endPosModel]prob
	align                            [1 << alignBits]prob
	matchLength, repLength           lengths
}

func newDecoder(packed []byte, most int) *decoder {
	p := uint(packed[0])
	d := &decoder{code: newRange(packed[headerSize:]), most: most, lc: p % 9, lp: p / 9 % 5, posMask: 1<<(p/45) - 1}
	d.literals = make([]prob, 0x300<<(d.lc+d.lp))
	lists := [][]prob{d.literals, d.isMatch[:], d.isRep0Long[:], d.isRep[:], d.isRepG0[:], d.isRepG1[:], d.isRepG2[:], d.special[:], d.align[:]}
	for i := range d.posSlot {
		lists = append(lists, d.posSlot[i][:])
	}
	for _, l := range lists {
		even(l)
	}
	d.matchLength.reset()
	d.repLength.reset()
	return d
}

// next decodes one packet: a byte, a match with a new distance, or one with an old one.
func (d *decoder) next() (end bool, err error) {
	if d.code.short || len(d.out) > d.most {
		return false, ErrDamaged
	}
	pos := len(d.out) & d.posMask
	if d.code.bit(&d.isMatch[d.state*posStates+pos]) == 0 {
		return false, d.literal()
	}
	length := 0
	if d.code.bit(&d.isRep[d.state]) == 0 {
		copy(d.rep[1:], d.rep[:3])
		length = d.matchLength.decode(&d.code, pos)
		d.state = after(d.state, 7, 10)
		if d.rep[0] = d.distance(length); d.rep[0] == 1<<32-1 {
			return true, nil // the mark of the end
		}
		return false, d.copy(length + minMatch)
	}
	if d.again(pos) {
		d.state = after(d.state, 9, 11)
		return false, d.copy(1)
	}
	length = d.repLength.decode(&d.code, pos)
	d.state = after(d.state, 8, 11)
	return false, d.copy(length + minMatch)
}

// again puts the old distance that is used first; short is true for a match of one byte.
func (d *decoder) again(pos int) (short bool) {
	if d.code.bit(&d.isRepG0[d.state]) == 0 {
		return d.code.bit(&d.isRep0Long[d.state*posStates+pos]) == 0
	}
	which := 1
	if d.code.bit(&d.isRepG1[d.state]) != 0 {
		which = 2 + int(d.code.bit(&d.isRepG2[d.state]))
	}
	chosen := d.rep[which]
	copy(d.rep[1:which+1], d.rep[:which])
	d.rep[0] = chosen
	return false
}

// after is the state behind a packet: one for states that follow a byte, one for others.
func after(state, literal, other int) int {
	if state < 7 {
		return literal
	}
	return other
}

// literal decodes one byte; behind a match the byte at its distance helps to guess it.
func (d *decoder) literal() error {
	before := byte(0)
	if n := len(d.out); n > 0 {
		before = d.out[n-1]
	}
	which := (len(d.out)&(1<<d.lp-1))<<d.lc | int(before)>>(8-d.lc)
	probs := d.literals[0x300*which:][:0x300]
	symbol := 1
	if d.state >= 7 {
		at := len(d.out) - int(d.rep[0]) - 1
		if at < 0 {
			return ErrDamaged
		}
		for match := int(d.out[at]); symbol < 0x100; {
			bit := match >> 7 & 1
			match <<= 1
			got := int(d.code.bit(&probs[(1+bit)<<8+symbol]))
			symbol = symbol<<1 | got
			if got != bit {
				break
			}
		}
	}
	for symbol < 0x100 {
		symbol = symbol<<1 | int(d.code.bit(&probs[symbol]))
	}
	d.out = append(d.out, byte(symbol))
	switch {
	case d.state < 4:
		d.state = 0
	case d.state < 10:
		d.state -= 3
	default:
		d.state -= 6
	}
	return nil
}

// distance decodes how far back a match lies.
func (d *decoder) distance(length int) uint32 {
	slot := tree(&d.code, d.posSlot[min(length, lenToPos-1)][:], 6)
	if slot < 4 {
		return uint32(slot)
	}
	direct := uint(slot>>1 - 1)
	dist := uint32(2|slot&1) << direct
	if slot < endPosModel {
		return dist + uint32(reverse(&d.code, d.special[int(dist)-slot:], direct))
	}
	dist += d.code.direct(direct-alignBits) << alignBits
	return dist + uint32(reverse(&d.code, d.align[:], alignBits))
}

// copy repeats bytes of what was unpacked, which may overlap with what it makes.
func (d *decoder) copy(n int) error {
	at := len(d.out) - int(d.rep[0]) - 1
	if at < 0 || len(d.out)+n > d.most {
		return ErrDamaged
	}
	for i := range n {
		d.out = append(d.out, d.out[at+i])
	}
	return nil
}
