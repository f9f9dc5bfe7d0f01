package probes

import "strings"

// HostFile looks a file up by its path without leading slash. What lies below
// lib, bin and sbin may as well stand below usr: merged systems have one of both
// (UsrMerge), and a recording names either.
func (f *Facts) HostFile(path string) (File, bool) {
	if v, ok := f.Files[path]; ok {
		return v, true
	}
	if rest, ok := strings.CutPrefix(path, "usr/"); ok {
		v, found := f.Files[rest]
		return v, found
	}
	v, ok := f.Files["usr/"+path]
	return v, ok
}

// toolDirs is where the kubelet, mount(8) and Longhorn look for programs.
var toolDirs = []string{"usr/sbin", "usr/bin", "sbin", "bin", "usr/local/sbin", "usr/local/bin"}

// otherToolDirs hold programs that nothing finds without a changed PATH.
var otherToolDirs = []string{"run/current-system/sw/bin", "run/wrappers/bin", "opt/bin", "snap/bin", "var/lib/rancher/bin", "usr/libexec"}

// ToolDirs returns the searched directories, in order, without leading slash.
func ToolDirs() []string { return append([]string(nil), toolDirs...) }

// OtherToolDirs returns directories that hold programs outside the searched path.
func OtherToolDirs() []string { return append([]string(nil), otherToolDirs...) }

// Tool returns the path of a program of the host in the searched directories,
// with leading slash, or nothing.
func (f *Facts) Tool(name string) string { return f.toolIn(name, toolDirs) }

// ToolElsewhere returns a program of the host outside the searched directories.
func (f *Facts) ToolElsewhere(name string) string { return f.toolIn(name, otherToolDirs) }

// ToolsRead tells whether the programs of the host were looked for with success: a host
// without any known program was not read.
func (f *Facts) ToolsRead() bool {
	if st, ok := f.Status["hostfiles"]; ok && st.State != "ok" {
		return false
	}
	for _, dir := range append(ToolDirs(), otherToolDirs...) {
		for p := range f.Files {
			if strings.HasPrefix(p, dir+"/") {
				return true
			}
		}
	}
	return false
}

func (f *Facts) toolIn(name string, dirs []string) string {
	for _, d := range dirs {
		if v, ok := f.Files[d+"/"+name]; ok && present(v) {
			return "/" + d + "/" + name
		}
	}
	return ""
}

func present(v File) bool { return v.Kind == "file" || v.Kind == "link" }

// ModuleState says where a kernel module was seen.
type ModuleState struct {
	Loaded  bool // in proc/modules or sys/module
	BuiltIn bool // in modules.builtin
	OnDisk  bool // in modules.dep of the running release
	// Listed tells whether the running release's lists were read. Where they were
	// not, a module that is not loaded may still be available.
	Listed bool
}

// Available tells whether the kernel has the module or can load it.
func (m ModuleState) Available() bool { return m.Loaded || m.BuiltIn || m.OnDisk }

// Module looks a kernel module up; "-" and "_" are one character to the kernel.
func (f *Facts) Module(name string) ModuleState {
	var m ModuleState
	want := strings.ReplaceAll(name, "-", "_")
	for _, line := range strings.Split(f.Files["proc/modules"].Content, "\n") {
		n, _, _ := strings.Cut(line, " ")
		m.Loaded = m.Loaded || n == want
	}
	_, dir := f.Files["sys/module/"+want]
	m.Loaded = m.Loaded || dir
	base := "lib/modules/" + f.Identity.Kernel + "/"
	if v, ok := f.HostFile(base + "modules.builtin"); ok && v.Err == "" {
		m.Listed = true
		m.BuiltIn = listsModule(v.Content, want)
	}
	if v, ok := f.HostFile(base + "modules.dep"); ok && v.Err == "" {
		m.Listed = true
		m.OnDisk = listsModule(v.Content, want)
	}
	return m
}

// LoadedRead tells whether the list of the loaded modules was read: else one that is in no
// list of the release may be loaded all the same.
func (f *Facts) LoadedRead() bool {
	loaded, ok := f.Files["proc/modules"]
	return ok && loaded.Err == ""
}

// listsModule reads lines "kernel/drivers/scsi/iscsi_tcp.ko.zst: …" (modules.dep(5)).
func listsModule(list, want string) bool {
	for _, line := range strings.Split(list, "\n") {
		path, _, _ := strings.Cut(line, ":")
		file := strings.TrimSpace(path[strings.LastIndexByte(path, '/')+1:])
		stem, _, ok := strings.Cut(file, ".ko")
		if ok && strings.ReplaceAll(stem, "-", "_") == want {
			return true
		}
	}
	return false
}
