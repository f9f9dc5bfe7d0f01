package transport_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
)

func TestNFSStateHang(t *testing.T) {
	t.Parallel()
	const open = "nfs_set_open_stateid_locked"
	stack := "[<0>] " + open + "+0xfc/0x370 [nfsv4]\n[<0>] update_open_stateid+0x9f/0x290 [nfsv4]"
	slow := "[<0>] rpc_wait_bit_killable+0x11/0x60 [sunrpc]\n[<0>] nfs4_call_sync_sequence+0x7a/0xb0 [nfsv4]\n[<0>] nfs4_file_open+0x12f/0x240 [nfsv4]"
	hang := func(wchan, stack string, change func(*probes.Facts)) *world {
		return newWorld(nfsPV()).pod("web", "n1", corev1.PodRunning).probed("n1", func(f *probes.Facts) {
			mounted(f, "web", "hard")
			f.Dials[server+":2049"] = "ok 0.4ms"
			f.Processes = append(f.Processes, probes.Process{PID: 77, Comm: "app", State: "D", WChan: wchan, Stack: stack, PodUID: "uid-web", MntNS: 1})
			change(f)
		})
	}
	same := func(*probes.Facts) {}
	version := func(v string) func(*probes.Facts) {
		return func(f *probes.Facts) { f.Namespaces[0].Mounts[1].Super[1] = "vers=" + v }
	}
	complains := probes.KernelLine{Sequence: 9, Kind: kmsg.NFSNotResponding, Server: server, Text: "nfs: server " + server + " not responding, still trying"}
	certain, likely := []string{"nfs-state-hang certain Node n1"}, []string{"nfs-state-hang likely Node n1"}
	check(t, []branch{
		{"by wchan", hang(open, "", same), certain},
		{"by the top of the stack", hang("0", stack, same), certain},
		{"a thread", hang("", "", func(f *probes.Facts) {
			q := &f.Processes[len(f.Processes)-1]
			q.State, q.Threads = "S", []probes.Thread{{TID: 78, Comm: "io", State: "D", WChan: "nfs4_wait_clnt_recover"}}
		}), certain},
		{"the server's answer was not asked", hang(open, "", func(f *probes.Facts) { f.Dials = nil }), likely},
		{"the kernel complains of the server", hang(open, "", func(f *probes.Facts) { f.Kernel = []probes.KernelLine{complains} }), likely},
		{"it complained and said OK later", hang(open, "", func(f *probes.Facts) {
			f.Kernel = []probes.KernelLine{complains, {Sequence: 10, Kind: kmsg.NFSOK, Server: server, Text: "nfs: server " + server + " OK"}}
		}), certain},
		{"the server is silent", hang(open, "", func(f *probes.Facts) { f.Dials[server+":2049"] = "timeout 3s" }), []string{"nfs-server-unreachable certain Node n1"}},
		{"tasks wait for an answer", hang("rpc_wait_bit_killable", slow, same), clean},
		{"tasks wait for an answer, by the stack", hang("", slow, same), clean},
		{"version 4.0", hang(open, "", version("4.0")), clean},
		{"version 4.2", hang(open, "", version("4.2")), certain},
		{"a task of a pod without the volume", hang(open, "", func(f *probes.Facts) { f.Processes[len(f.Processes)-1].PodUID = "uid-other" }), clean},
		{"a task of the host, one server only", hang(open, "", func(f *probes.Facts) { f.Processes[len(f.Processes)-1].PodUID = "" }), certain},
		{"it runs", hang(open, stack, func(f *probes.Facts) { f.Processes[len(f.Processes)-1].State = "S" }), clean},
	})
}
