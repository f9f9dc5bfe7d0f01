package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// backend is the network storage: a folder that both nodes see.
type backend struct{ driver, storage string }

// volume is what the backend knows of one volume.
type volume struct {
	ID        string
	Namespace string // of the claim that it was made for: faults are switched on by it
	Bytes     int64
	Zone      string // the only one that reaches it, "" for every one
	Node      string // to which it is published
}

func (b backend) image(id string) string  { return filepath.Join(b.storage, id+".img") }
func (b backend) record(id string) string { return filepath.Join(b.storage, b.driver, id+".json") }

func (b backend) save(v volume) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(b.record(v.ID)), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(b.record(v.ID)+".new", data, 0o644); err != nil {
		return err
	}
	return os.Rename(b.record(v.ID)+".new", b.record(v.ID))
}

// load finds a volume; its error is the CSI specification's NotFound.
func (b backend) load(id string) (volume, error) {
	var v volume
	data, err := os.ReadFile(b.record(id))
	if errors.Is(err, fs.ErrNotExist) {
		return v, status.Errorf(codes.NotFound, "volume %s does not exist", id)
	}
	if err != nil {
		return v, err
	}
	return v, json.Unmarshal(data, &v)
}
