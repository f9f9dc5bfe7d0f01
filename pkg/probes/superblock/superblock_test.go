package superblock

import "testing"

func TestJournalName(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, kname, fstype string }{
		{"disk", "sda-8", "sda", "ext4"},
		{"mapper", "dm-0-8", "dm-0", "ext4"},
		{"mapper as journal device", "dm-0", "dm-0", "jbd2"},
		{"nvme partition", "nvme0n1p12-8", "nvme0n1p12", "ext4"},
		{"disk as journal device", "sdb", "sdb", "jbd2"},
		{"slash in the name", "cciss!c0d0p1-8", "cciss/c0d0p1", "ext4"},
		{"no inode", "sda-", "sda-", "jbd2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if k, fs := JournalName(tt.in); k != tt.kname || fs != tt.fstype {
				t.Errorf("got %q %q, want %q %q", k, fs, tt.kname, tt.fstype)
			}
		})
	}
}

func FuzzJournalName(f *testing.F) {
	f.Add("dm-0-8")
	f.Add("-8")
	f.Fuzz(func(t *testing.T, in string) {
		if k, _ := JournalName(in); k == "" && in != "" {
			t.Errorf("%q has no name", in)
		}
	})
}
