package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"
)

// settable are the flags whose defaults may stand in the environment, as
// MOUNTDOCTOR_PROBE_IMAGE, or in the file, as probe-image. A flag wins over the
// environment, the environment over the file.
var settable = []string{"probe-image", "probe-namespace", "probe-pull-secret", "probe-timeout", "output", "fail-on", "color", "docs-url"}

// setting is a default that is in force, and where it stands.
type setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"`
}

// settings reads environment and file.
func settings() ([]setting, error) {
	file, path, err := configFile()
	if err != nil {
		return nil, err
	}
	var out []setting
	for _, name := range settable {
		variable := "MOUNTDOCTOR_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		if v := os.Getenv(variable); v != "" {
			out = append(out, setting{name, v, variable})
		} else if v, ok := file[name]; ok {
			out = append(out, setting{name, v, path})
		}
	}
	return out, nil
}

// configFile is mountdoctor/config.yaml in the user's directory for such files
// ($XDG_CONFIG_HOME or ~/.config on Linux), or what MOUNTDOCTOR_CONFIG names.
func configFile() (map[string]string, string, error) {
	path := os.Getenv("MOUNTDOCTOR_CONFIG")
	if path == "" {
		dir, _ := os.UserConfigDir()
		if dir == "" { // nobody's home: there is no file
			return nil, "", nil
		}
		path = filepath.Join(dir, "mountdoctor", "config.yaml")
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("MOUNTDOCTOR_CONFIG") == "" {
		return nil, path, nil
	}
	if err != nil {
		return nil, path, fmt.Errorf("read the configuration: %w", err)
	}
	out := map[string]string{}
	if err := yaml.UnmarshalStrict(raw, &out); err != nil {
		return nil, path, fmt.Errorf("read the configuration %s: want lines NAME: VALUE with text values: %w", path, err)
	}
	for name := range out {
		if !slices.Contains(settable, name) {
			return nil, path, fmt.Errorf("the configuration %s sets %q, which it cannot; it can set %s", path, name, strings.Join(settable, ", "))
		}
	}
	return out, path, nil
}

// defaults gives the flags that were not set what environment and file say.
func (o *diagnoseOptions) defaults(cmd *cobra.Command) error {
	list, err := settings()
	if err != nil {
		return err
	}
	for _, s := range list {
		var f *pflag.Flag
		if f = cmd.Flags().Lookup(s.Name); f == nil || f.Changed {
			continue
		}
		if err := f.Value.Set(s.Value); err != nil {
			return usagef("%s says %s %q: %v", s.From, s.Name, s.Value, err)
		}
	}
	return nil
}
