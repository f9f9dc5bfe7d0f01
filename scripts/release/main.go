// Command release builds the archives of a release, their checksums and the krew
// manifest into dist/, without a network and byte for byte the same each time
// for one commit, version and Go release.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

const (
	program = "kubectl-mountdoctor"
	flagVar = "github.com/mountdoctor/kubectl-mountdoctor/pkg/plugin.Version"
)

// platforms are those of the release.
var platforms = []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64", "windows/amd64", "windows/arm64"}

// unlisted are platforms that the manifest leaves out: krew itself is not built for
// them, and its check refuses a selector that matches none of its own platforms.
var unlisted = []string{"windows/arm64"}

// semantic is what krew accepts as a version.
var semantic = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// archive is one file of the release.
type archive struct {
	OS, Arch, Name, Binary, SHA256 string
}

// describe names the archive of a platform; .goreleaser.yaml uses the same names.
func describe(platform string) archive {
	goos, arch, _ := strings.Cut(platform, "/")
	a := archive{OS: goos, Arch: arch, Binary: program, Name: program + "_" + goos + "_" + arch + ".tar.gz"}
	if goos == "windows" {
		a.Binary += ".exe"
		a.Name = strings.TrimSuffix(a.Name, ".tar.gz") + ".zip"
	}
	return a
}

func main() {
	sbom := flag.String("sbom", "", "instead, write the bill of materials and the notices of this binary into -out")
	version := flag.String("version", "v0.0.0-snapshot", "version of the release, as vX.Y.Z")
	out := flag.String("out", "dist", "directory for the result")
	only := flag.String("platforms", strings.Join(platforms, ","), "platforms to build")
	flag.Parse()
	var err error
	if *sbom != "" {
		_, err = describeBinary(*sbom, *version, *out)
	} else {
		err = release(*version, *out, strings.Split(*only, ","))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func release(version, out string, names []string) error {
	if !semantic.MatchString(version) {
		return fmt.Errorf("version %q is not vX.Y.Z", version)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	var archives []archive
	for _, p := range names {
		a := describe(p)
		if err := a.make(version, work, out); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		fmt.Println(a.SHA256, a.Name)
		archives = append(archives, a)
	}
	if err := writeSums(filepath.Join(out, "checksums.txt"), archives); err != nil {
		return err
	}
	manifest, err := render(filepath.Join("deploy", "krew", "mountdoctor.yaml"), version, archives)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "mountdoctor.yaml"), manifest, 0o644)
}

// tags as in the Makefile, which says why.
const tags = "kustomize_disable_go_plugin_support"

// seldom is compiled without inlining, as in the Makefile.
const seldom = "k8s.io/... google.golang.org/... sigs.k8s.io/... golang.org/x/net/... github.com/google/... github.com/go-openapi/... github.com/spf13/... github.com/mountdoctor/kubectl-mountdoctor/pkg/collect/... github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/... github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy/... " +
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/symptom/... github.com/mountdoctor/kubectl-mountdoctor/pkg/launch/... github.com/mountdoctor/kubectl-mountdoctor/pkg/plugin/... github.com/mountdoctor/kubectl-mountdoctor/pkg/render/... github.com/mountdoctor/kubectl-mountdoctor/pkg/report/... github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot/bundle/... github.com/olekukonko/... github.com/emicklei/... github.com/gorilla/... github.com/moby/... github.com/fxamacker/... " +
	"github.com/fatih/... github.com/clipperhouse/... golang.org/x/oauth2/... github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims/... github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/cloud/... github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/crypt/... github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/drbd/... github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn/... github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/provision/... github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/security/... github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/smb/..."

// flags are those of the build: no path and no time of this machine, no build id.
func flags(version string) []string {
	out := []string{"-trimpath", "-buildvcs=false", "-tags", tags, "-ldflags", "-s -w -buildid= -X " + flagVar + "=" + version}
	for _, packages := range strings.Fields(seldom) {
		out = append(out, "-gcflags="+packages+"=-l")
	}
	return out
}

// make builds and packs one platform.
func (a *archive) make(version, work, out string) error {
	binary := filepath.Join(work, a.OS+"-"+a.Arch, a.Binary)
	build := exec.Command("go", slices.Concat([]string{"build"}, flags(version), []string{"-o", binary, "./cmd/" + program})...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+a.OS, "GOARCH="+a.Arch)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	papers, err := describeBinary(binary, version, filepath.Dir(binary))
	if err != nil {
		return err
	}
	files := append([]string{binary, "LICENSE"}, papers...)
	pack := packTar
	if strings.HasSuffix(a.Name, ".zip") {
		pack = packZip
	}
	body, err := pack(files)
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	sum := sha256.Sum256(body)
	a.SHA256 = hex.EncodeToString(sum[:])
	return os.WriteFile(filepath.Join(out, a.Name), body, 0o644)
}

// writeSums writes the format of sha256sum(1).
func writeSums(file string, archives []archive) error {
	var b strings.Builder
	for _, a := range archives {
		fmt.Fprintf(&b, "%s  %s\n", a.SHA256, a.Name)
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// render fills the krew manifest; the template's leading comment is not for users.
func render(file, version string, archives []archive) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	body := string(text)
	for strings.HasPrefix(body, "#") {
		_, body, _ = strings.Cut(body, "\n")
	}
	t, err := template.New(filepath.Base(file)).Option("missingkey=error").Parse(body)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	listed := slices.DeleteFunc(slices.Clone(archives), func(a archive) bool { return slices.Contains(unlisted, a.OS+"/"+a.Arch) })
	err = t.Execute(&b, struct {
		Version  string
		Archives []archive
	}{version, listed})
	return []byte(b.String()), err
}
