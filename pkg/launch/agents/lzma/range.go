package lzma

import "encoding/binary"

// prob is how likely the next bit of a decision is 0, in parts of 2048.
type prob uint16

const (
	probBits   = 11
	moveBits   = 5
	topValue   = 1 << 24
	rangeBytes = 5
)

// even makes both values of each decision equally likely.
func even(list []prob) {
	for i := range list {
		list[i] = 1 << (probBits - 1)
	}
}

// rangeDecoder reads the bits of decisions, likely ones from less than a bit of the file.
type rangeDecoder struct {
	in          []byte
	width, code uint32
	short       bool // the file ended too early
}

func newRange(in []byte) rangeDecoder {
	return rangeDecoder{in: in[rangeBytes:], width: 1<<32 - 1, code: binary.BigEndian.Uint32(in[1:]), short: in[0] != 0}
}

// normalize reads a byte when the width became small.
func (r *rangeDecoder) normalize() {
	if r.width >= topValue {
		return
	}
	r.width <<= 8
	r.code <<= 8
	if len(r.in) == 0 {
		r.short = true
		return
	}
	r.code |= uint32(r.in[0])
	r.in = r.in[1:]
}

func (r *rangeDecoder) bit(p *prob) uint32 {
	bound := r.width >> probBits * uint32(*p)
	var bit uint32
	if r.code < bound {
		r.width = bound
		*p += (1<<probBits - *p) >> moveBits
	} else {
		r.width -= bound
		r.code -= bound
		*p -= *p >> moveBits
		bit = 1
	}
	r.normalize()
	return bit
}

// direct reads bits that are as likely 0 as 1.
func (r *rangeDecoder) direct(n uint) uint32 {
	var out uint32
	for range n {
		r.width >>= 1
		bit := uint32(1)
		if r.code < r.width {
			bit = 0
		} else {
			r.code -= r.width
		}
		r.normalize()
		out = out<<1 | bit
	}
	return out
}

// tree reads a number of some bits, the highest first.
func tree(r *rangeDecoder, probs []prob, bits uint) int {
	m := 1
	for range bits {
		m = m<<1 | int(r.bit(&probs[m]))
	}
	return m - 1<<bits
}

// reverse reads a number of some bits, the lowest first.
func reverse(r *rangeDecoder, probs []prob, bits uint) int {
	m, out := 1, 0
	for i := range bits {
		bit := int(r.bit(&probs[m]))
		m = m<<1 | bit
		out |= bit << i
	}
	return out
}

// lengths decodes the lengths of matches: short, middle and long ones apart.
type lengths struct {
	choice, choice2 [1]prob
	low, mid        [posStates][8]prob
	high            [256]prob
}

func (l *lengths) reset() {
	even(l.choice[:])
	even(l.choice2[:])
	even(l.high[:])
	for i := range l.low {
		even(l.low[i][:])
		even(l.mid[i][:])
	}
}

func (l *lengths) decode(r *rangeDecoder, pos int) int {
	if r.bit(&l.choice[0]) == 0 {
		return tree(r, l.low[pos][:], 3)
	}
	if r.bit(&l.choice2[0]) == 0 {
		return 8 + tree(r, l.mid[pos][:], 3)
	}
	return 16 + tree(r, l.high[:], 8)
}
