package snapshot

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// tree is every file of a snapshot by its slash-separated name.
type tree map[string][]byte

// readDir reads a snapshot's directory. Links are refused, not followed: a
// snapshot is data of others and must not make us read files of our own.
func readDir(dir string, limits Limits) (tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files, left := tree{}, budget{Limits: limits}
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return enterDir(name, &left)
		}
		if !below(name) && !below(name+"/") && name != headerFile {
			return nil
		}
		if !entry.Type().IsRegular() {
			return fmt.Errorf("%q is a %s, not a file", name, typeName(entry.Type()))
		}
		if err := left.entry(); err != nil || !wanted(name) {
			return err
		}
		data, err := readIn(root, name, &left)
		files[name] = data
		return err
	})
	return files, err
}

// enterDir skips the directories that are no part of a snapshot.
func enterDir(name string, left *budget) error {
	if name != "." && !below(name+"/") {
		return fs.SkipDir
	}
	return left.entry()
}

// below tells whether a name lies in one of a snapshot's directories.
func below(name string) bool {
	dir, _, nested := strings.Cut(name, "/")
	return nested && (dir == clusterDir || dir == nodesDir || dir == logsDir)
}

// readIn reads a file that the walk has seen as a plain one.
func readIn(root *os.Root, name string, left *budget) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var size int64
	if info, err := f.Stat(); err == nil {
		size = info.Size()
	}
	return left.read(name, f, size)
}

// typeName says what an entry is that we refuse.
func typeName(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}
