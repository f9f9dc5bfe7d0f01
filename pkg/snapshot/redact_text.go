package snapshot

import (
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

var (
	iqnShape   = pattern.MustCompile(`iqn\.(\d{4}-\d{2})\.([A-Za-z0-9.-]+)(:[^\s"',;\\/\]]+)?`)
	ipv4Shape  = pattern.MustCompile(`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b`)
	ipv6Shape  = pattern.MustCompile(`\b[0-9a-fA-F]{1,4}:(?:[0-9a-fA-F]{0,4}:){1,7}[0-9a-fA-F]{1,4}\b`)
	byteValues = pattern.MustCompile(`\[(\d{1,3}(?:[ ,]+\d{1,3}){7,})\]?`)
)

// text redacts free text: first the words, then whatever looks like an IQN or an address.
func (w *vocabulary) text(s string) string {
	s = byteValues.ReplaceAllStringFunc(s, w.bytesAsText)
	return w.shapes(w.words(s))
}

// shapes replaces what has the form of an IQN or an address, and every word that no rule
// uses.
func (w *vocabulary) shapes(s string) string {
	s = iqnShape.ReplaceAllStringFunc(s, w.iqn)
	s = ipv6Shape.ReplaceAllStringFunc(s, w.ipv6)
	return w.sweep(ipv4Shape.ReplaceAllStringFunc(s, w.ipv4))
}

// words replaces known words that stand alone: no letter or digit on either side. A
// dash or dot is a border, so that derived names (web-0, share-manager-<volume>) keep
// their shape.
func (w *vocabulary) words(s string) string {
	var b strings.Builder
	last := 0
	for i := 0; i < len(s); {
		if i > 0 && alnum(s[i-1]) && !escaped(s, i) {
			i++
			continue
		}
		hit := ""
		for _, k := range w.first[s[i]] {
			if strings.HasPrefix(s[i:], k) && (i+len(k) == len(s) || !alnum(s[i+len(k)])) {
				hit = k
				break
			}
		}
		if hit == "" {
			i++
			continue
		}
		b.WriteString(s[last:i])
		b.WriteString(w.inside[hit])
		i += len(hit)
		last = i
	}
	if last == 0 {
		return s
	}
	b.WriteString(s[last:])
	return b.String()
}

// escaped tells whether a percent-encoded byte stands right before i ("%20bogon").
func escaped(s string, i int) bool { return i >= 3 && s[i-3] == '%' }

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// bytesAsText decodes a byte array that old kubelets print as numbers, because a name
// may hide in it; the text is as good for a rule.
func (w *vocabulary) bytesAsText(s string) string {
	var out []byte
	for _, f := range strings.FieldsFunc(strings.Trim(s, "[]"), func(r rune) bool { return r == ' ' || r == ',' }) {
		n, err := strconv.Atoi(f)
		if err != nil || n > 255 {
			return s
		}
		out = append(out, byte(n))
	}
	printable := 0
	for _, c := range out {
		if c >= 32 && c < 127 || c == '\n' || c == '\t' || c == '\r' {
			printable++
		}
	}
	if printable*5 < len(out)*4 {
		return s
	}
	return string(out)
}

// iqn keeps the form and Longhorn's own prefix.
func (w *vocabulary) iqn(s string) string {
	m := iqnShape.FindStringSubmatch(s)
	const longhorn = "io.longhorn"
	if m[2] == longhorn || strings.HasPrefix(m[2], "io.longhorn.") {
		return s // what follows is a volume's name, which the words have replaced
	}
	out := "iqn." + m[1] + ".redacted." + w.token("iqn", m[2])[:8]
	// Part by part: a unique volume name has the LUN behind the IQN.
	for _, part := range strings.Split(m[3], ":")[min(1, len(m[3])):] {
		if _, err := strconv.Atoi(part); err != nil && !keptName(part) {
			part = w.token("iqn", part)[:12]
		}
		out += ":" + part
	}
	return out
}

// ipv4 keeps the first number and replaces the others one by one, each depending on
// those before it: two addresses of one network stay in one network.
func (w *vocabulary) ipv4(s string) string {
	a, err := netip.ParseAddr(s)
	if err != nil || a.IsLoopback() || a.IsUnspecified() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return s
	}
	in := a.As4()
	out := in
	for i := 1; i < 4; i++ {
		if in[i] == 0 || in[i] == 255 {
			continue // borders of networks
		}
		h := w.token("ip", string(in[:i]))
		shift, _ := strconv.ParseUint(h[:8], 16, 32)
		out[i] = byte(1 + (uint64(in[i])-1+shift)%254)
	}
	return netip.AddrFrom4(out).String()
}

// ipv6 keeps the first group of an address. What only looks like one (a time, a host:
// channel:target:lun) stays.
func (w *vocabulary) ipv6(s string) string {
	if i := strings.LastIndexByte(s, ':'); i > 0 && !w.known[s] && w.known[s[:i]] {
		return w.ipv6(s[:i]) + s[i:] // an address with a port glued to it
	}
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is6() || a.IsLoopback() {
		return s
	}
	in := a.As16()
	out := in
	h, _ := hex.DecodeString(w.token("ip6", string(in[2:])))
	for i := 2; i < 16; i++ {
		if in[i] != 0 {
			out[i] = h[i] | 1
		}
	}
	return netip.AddrFrom16(out).String()
}

// identity learns a WWID in all the ways in which it is written. Longhorn's own, made
// of target id and LUN only, says nothing about anybody and stays.
func (w *vocabulary) identity(s string) {
	bare := strings.ToLower(strings.TrimSpace(s))
	for _, p := range []string{"naa.", "eui.", "t10.", "0x"} {
		bare = strings.TrimPrefix(bare, p)
	}
	if len(bare) < 12 || strings.Contains(bare, "e0000000") || strings.Trim(bare, "0123456789abcdef") != "" {
		w.serial(s)
		return
	}
	token := bare[:1] + w.token("wwid", bare)
	token = (token + token)[:len(bare)]
	for _, prefix := range []string{"", "3", "0x", "naa.", "eui."} {
		w.put(prefix+bare, prefix+token)
	}
}

// serial learns a serial number, also as the hex digits of its ASCII form.
func (w *vocabulary) serial(s string) {
	s = strings.TrimSpace(s)
	if len(s) < 6 || keptName(s) || s == "beaf11" {
		return
	}
	if _, ok := w.exact[s]; ok {
		return
	}
	token := w.token("serial", s)
	token = (token + token)[:min(len(s), len(token)*2)]
	w.put(s, token)
	w.put(hex.EncodeToString([]byte(s)), hex.EncodeToString([]byte(token)))
}
