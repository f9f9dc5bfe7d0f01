package message

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       Failure
		kinds      []Kind
	}{
		{
			name: "stage of a busy Longhorn device",
			text: "MountVolume.MountDevice failed for volume \"pvc-8c\" : rpc error: code = Internal desc = mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t ext4 -o defaults /dev/longhorn/pvc-8c /g/globalmount\nOutput: mount: /g/globalmount: /dev/longhorn/pvc-8c already mounted or mount point busy.",
			want: Failure{Op: "MountVolume.MountDevice", Spec: "pvc-8c", Code: "Internal", Exit: 32,
				MountSource: "/dev/longhorn/pvc-8c", MountTarget: "/g/globalmount", Vols: []string{"pvc-8c"}, Devices: []string{"/dev/longhorn/pvc-8c"}},
			kinds: []Kind{AlreadyMountedBusy},
		},
		{
			name:  "unmap of an in-tree rbd image as a byte array that is cut",
			text:  "UnmountDevice failed for volume \"pvc-1\" (UniqueName: \"kubernetes.io/rbd/p:i\") on node \"n1\" : rbd: failed to unmap device /dev/rbd3, error exit status 16, rbd output: [114 98 100 58 32 117 110 109 97 112 32 102 97 105 108 101 100 58 32 40 49 54 41 32 68 101 118 105 99 101 32 111 114 32 114 101 115 111 117 114 99 101 32 98 117 115 121 10 1",
			want:  Failure{Op: "UnmountDevice", Spec: "pvc-1", Unique: "kubernetes.io/rbd/p:i", OnNode: "n1", Exit: 16, Devices: []string{"/dev/rbd3"}},
			kinds: []Kind{RBDBusy, DeviceBusy},
		},
		{
			name:  "innermost status of nested gRPC errors",
			text:  `AttachVolume.Attach failed for volume "v" : rpc error: code = Internal desc = rpc error: code = DeadlineExceeded desc = volume v failed to attach to node n with attachmentID csi-1`,
			want:  Failure{Op: "AttachVolume.Attach", Spec: "v", Code: "DeadlineExceeded", Exit: -1},
			kinds: []Kind{Deadline, FailedToAttach},
		},
		{
			name:  "multi-attach without a pod",
			text:  `Multi-Attach error for volume "v" Volume is already exclusively attached to one node and can't be attached to another`,
			want:  Failure{Spec: "v", Exit: -1},
			kinds: []Kind{MultiAttachExclusive},
		},
		{
			name:  "klog line of the kubelet",
			text:  `E0504 09:00:00.0 1 nestedpendingoperations.go:348] Operation for "{volumeName:kubernetes.io/csi/d^h podName:u nodeName:}" failed. No retries permitted until 2026 (durationBeforeRetry 2m2s). Error: "UnmountVolume.TearDown failed for volume \"data\" (UniqueName: \"kubernetes.io/csi/d^h\") pod \"u\" (UID: \"u\") : rpc error: code = Internal desc = target is busy"`,
			want:  Failure{Op: "UnmountVolume.TearDown", Spec: "data", Unique: "kubernetes.io/csi/d^h", PodUID: "u", Code: "Internal", Exit: -1},
			kinds: []Kind{TargetBusy},
		},
		{
			name:  "kubelet summary",
			text:  `Unable to attach or mount volumes: unmounted volumes=[data logs], unattached volumes=[], failed to process volumes=[]: timed out waiting for the condition`,
			want:  Failure{Exit: -1, Unmounted: []string{"data", "logs"}},
			kinds: []Kind{MountTimeout},
		},
		{
			name: "links below by-path, with the colons that udev leaves in them",
			text: `Device not found for: /dev/disk/by-path/ip-10.0.20.10:3260-iscsi-iqn.1988-11.com.dell:01.array.bc30-lun-4: timeout [/dev/disk/by-path/pci-0000:3b:00.0-fc-0x500a09828da1b2c3-lun-0], /dev/disk/by-path/ip-[fd00::7]:3260-iscsi-iqn.2003-10.a:b-lun-1.`,
			want: Failure{Exit: -1, Devices: []string{"/dev/disk/by-path/ip-10.0.20.10:3260-iscsi-iqn.1988-11.com.dell:01.array.bc30-lun-4",
				"/dev/disk/by-path/pci-0000:3b:00.0-fc-0x500a09828da1b2c3-lun-0", "/dev/disk/by-path/ip-[fd00::7]:3260-iscsi-iqn.2003-10.a:b-lun-1"}},
		},
		{
			name:  "login that failed",
			text:  `failed to execute: /usr/bin/nsenter [nsenter iscsiadm -m node --login], output , stderr iscsiadm: Could not login: exit status 12`,
			want:  Failure{Exit: 12},
			kinds: []Kind{ISCSIExit, iscsiExitKind(12)},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := Parse(tt.text)
			for _, k := range tt.kinds {
				if !got.Is(k) {
					t.Errorf("kind %s is missing in %v", k, got.Kinds)
				}
			}
			got.Desc, got.Kinds, got.Args, got.Output = "", nil, "", ""
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("mismatch (-want +got):\n%s", d)
			}
		})
	}
}

// The end of a quoted field of a log line is no word of the driver.
func TestDescOfLogLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"Event occurred" message="failed with StorageClass \"disk\": rpc error: code = Internal desc = pool is offline"`: "pool is offline",
		`rpc error: code = Internal desc = no pool "fast"`:                                                                `no pool "fast"`,
	} {
		if got := Parse(text).Desc; got != want {
			t.Errorf("Parse(%s) says %q, want %q", text, got, want)
		}
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"small numbers stay", "replicas [1 2 3] of 3", "replicas [1 2 3] of 3"},
		{"numbers above 255 stay", "[300 400 500 600]", "[300 400 500 600]"},
		{"text", "out: [109 111 117 110 116]", "out: mount"},
		{"text cut in a number", "out: [109 111 117 110 116 5", "out: mount"},
		{"with commas", "[102, 115, 99, 107]", "fsck"},
		{"mostly unprintable stays", "[1 2 3 4 5 6]", "[1 2 3 4 5 6]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Decode(tt.text); got != tt.want {
				t.Errorf("Decode(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "[1 2 3", `MountVolume.SetUp failed for volume "`, "rpc error: code = X desc = ", `\`, "Output:", strings.Repeat("[109 111 117 110 116]", 9)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Parse(s)
		if again := Parse(s); !cmp.Equal(got, again) {
			t.Errorf("Parse(%q) differs between two runs", s)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	const text = "MountVolume.MountDevice failed for volume \"pvc-8c\" : rpc error: code = Internal desc = mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t ext4 -o defaults /dev/longhorn/pvc-8c /g/globalmount\nOutput: mount: /g/globalmount: /dev/longhorn/pvc-8c already mounted or mount point busy."
	for b.Loop() {
		Parse(text)
	}
}
