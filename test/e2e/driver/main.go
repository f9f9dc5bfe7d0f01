// Driver is a small CSI driver for the lab. It makes an ext4 file system in a
// file that both nodes see (the network storage), on a loop device, so that a
// volume really moves between nodes:
//
//	driver node NAME DEVICES KUBELET STORAGE    the node plugin, with its registration
//	driver attacher NAME KUBECONFIG             answers VolumeAttachments
package main

import (
	"log"
	"os"
)

func main() {
	switch {
	case len(os.Args) == 6 && os.Args[1] == "node":
		d := &driver{name: os.Args[2], devices: os.Args[3], kubelet: os.Args[4], storage: os.Args[5], node: os.Getenv("NODE_NAME")}
		log.Fatal(d.serve())
	case len(os.Args) == 4 && os.Args[1] == "attacher":
		log.Fatal(attach(os.Args[2], os.Args[3]))
	default:
		log.Fatal("usage: driver node NAME DEVICES KUBELET STORAGE | driver attacher NAME KUBECONFIG")
	}
}
