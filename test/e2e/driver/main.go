// Driver is a small CSI driver for the lab. It makes an ext4 file system in a
// file that both nodes see (the network storage), on a loop device, so that a
// volume really moves between nodes:
//
//	driver node NAME DEVICES KUBELET STORAGE    the node plugin, with its registration
//	driver controller NAME SOCKET STORAGE       what the sidecars of the CSI project ask
//
// A test makes it fail by a file, see fault.go.
package main

import (
	"log"
	"os"
)

func main() {
	switch {
	case len(os.Args) == 6 && os.Args[1] == "node":
		b := backend{driver: os.Args[2], storage: os.Args[5]}
		d := &driver{identity: self(b.driver), backend: b, devices: os.Args[3], kubelet: os.Args[4], node: os.Getenv("NODE_NAME")}
		log.Fatal(d.serve())
	case len(os.Args) == 5 && os.Args[1] == "controller":
		c := &controller{identity: self(os.Args[2]), backend: backend{driver: os.Args[2], storage: os.Args[4]}}
		log.Fatal(c.serve(os.Args[3]))
	default:
		log.Fatal("usage: driver node NAME DEVICES KUBELET STORAGE | driver controller NAME SOCKET STORAGE")
	}
}

func self(name string) identity { return identity{name: name, topology: os.Getenv("TOPOLOGY")} }
