package probes

import (
	"strconv"
	"strings"
)

// ParseNamespace reads the text of a namespace link such as "mnt:[4026531841]"
// (namespaces(7)). The same text is the root of an nsfs mount.
func ParseNamespace(link string) (kind string, inode uint64, ok bool) {
	kind, rest, found := strings.Cut(strings.TrimSpace(link), ":[")
	if !found || kind == "" || !strings.HasSuffix(rest, "]") {
		return "", 0, false
	}
	inode, err := strconv.ParseUint(rest[:len(rest)-1], 10, 64)
	if err != nil {
		return "", 0, false
	}
	return kind, inode, true
}

// Within tells whether a path is a directory itself or lies below it: "sdb1" is not within "sdb".
func Within(path, dir string) bool {
	if dir == "/" {
		return strings.HasPrefix(path, "/")
	}
	dir = strings.TrimSuffix(dir, "/")
	return dir != "" && strings.HasPrefix(path, dir) && (len(path) == len(dir) || path[len(dir)] == '/')
}

// Unescape undoes the octal escapes (\040 \011 \012 \134 and the like) that the
// kernel's seq_escape writes into mount tables and proc/swaps.
func Unescape(s string) string {
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	b = append(b, s[:i]...)
	for i < len(s) {
		if s[i] == '\\' && i+3 < len(s) && s[i+1] <= '3' && octal(s[i+1]) && octal(s[i+2]) && octal(s[i+3]) {
			b = append(b, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 4
			continue
		}
		b = append(b, s[i])
		i++
	}
	return string(b)
}

func octal(c byte) bool { return c >= '0' && c <= '7' }
