package filesystem

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

var (
	// formats is any word about a format of a disk.
	formats = pattern.MustCompile(`(?i)appears to be unformatted|format of disk "?[^"]*"? failed|could not erase sector|mkfs\.\w+.*(Input/output error|No data available)`)
	// formatFails is a mkfs that fails for I/O errors: it was started, so the mount code
	// took the disk for an empty one.
	formatFails = pattern.MustCompile(`(?is)(format of disk|mkfs\.\w+|mke2fs).*(Input/output error|No data available|could not erase sector)|could not erase sector`)
	// reformats is scaleway-csi (pkg/driver/diskutils.go, EncryptAndOpenDevice), which takes a LUKS header that
	// luksOpen does not open, whatever the reason but a wrong passphrase, for a damaged one, and writes a new one.
	reformats = pattern.MustCompile(`attempting re-format|error re-formatting device|after re-format`)
)

// Format is a volume with data that looks unformatted, so that staging may format it.
type Format struct {
	Says    string // unreadable | empty | unseen | header; blank: nothing is to be asked
	Carrier Carrier
	Seen    bool
	Error   string // that a read of the device gives, with its words
	Tried   bool   // a format was tried just now

	Is      evidence.Answer
	Data    evidence.Answer // the volume held data; not seen: nobody knows
	Attempt evidence.Answer // the mount code takes the disk for an empty one
	Held    evidence.Answer // somebody has the device: it is mounted, or something lies on it
	Old     bool            // an hour or older
}

// FormatOf reads what the place's device reads like, and what was freshly said.
func FormatOf(pl *evidence.Place) Format {
	f := Format{Data: heldData(pl), Old: pl.Volume.PV != nil && pl.X.Age(pl.Volume.PV.CreationTimestamp.Time) > time.Hour, Held: evidence.No()}
	f.Carrier, f.Seen = CarrierOf(pl)
	switch {
	case !f.Seen && seenAnywhere(pl):
		return f
	case f.Seen && !f.Carrier.isTheVolume(): // then device-is-not-the-volume is the question
		return f
	case f.Seen:
		own := f.Carrier
		own.Block = f.Carrier.Device.Block
		f.Held = evidence.Any(f.Carrier.Mounted(), own.held())
		f.look(own)
	}
	free := !slices.ContainsFunc(pl.Refused(), func(t evidence.Text) bool { return keptOff(pl, t) })
	if _, read := f.read(); read {
		f.Attempt = attempt(pl, func(t evidence.Text) bool {
			return formats.MatchString(t.Raw) || t.Is(message.FormatFailed) || f.Says == "unreadable" && t.Is(message.LuksFormatFailed)
		})
	} else if f.Attempt = attempt(pl, func(t evidence.Text) bool {
		return free && (formatFails.MatchString(t.Raw) || f.Data.Yes() && formats.MatchString(t.Raw)) // a disk that somebody holds is not written to
	}); f.Attempt.Yes() {
		f.Says, f.Is = "unseen", f.Attempt
	}
	if again := attempt(pl, func(t evidence.Text) bool { return free && reformats.MatchString(t.Raw) }); again.Yes() {
		f.Says, f.Is, f.Attempt = "header", again, again
	}
	f.Tried = f.Attempt.Yes()
	return f
}

// Rewrites tells whether the driver writes a new LUKS header over one that it does not open, of
// a volume that is no new one.
func (f Format) Rewrites() bool { return f.Says == "header" && f.Old }

func (f *Format) read() (probes.Content, bool) {
	if !f.Seen {
		return probes.Content{}, false
	}
	x, read := f.Carrier.Place.View.Facts.Contents[f.Carrier.Device.Dev]
	return x, read
}

// look tells how the disk reads now: with an error, or as if nothing were on it.
func (f *Format) look(own Carrier) {
	x, read := f.read()
	words := map[string]string{"EIO": "Input/output error", "ENODATA": "No data available, a medium error of the target", "EREMOTEIO": "Remote I/O error"}
	switch {
	case !read:
		return
	case words[x.Err] != "":
		f.Says, f.Error = "unreadable", x.Err+": "+words[x.Err]
	case x.Err == "" && x.Type == "none":
		f.Says = "empty"
	default:
		return
	}
	lines := own.failedRequests()
	f.Is = evidence.Yes(own.Shows(x.Err, x.Type)).With(own.quote(lines[max(0, len(lines)-3):], 3)...)
}

// isTheVolume tells whether the disk is the volume by identity, and the name that the mount
// code opens leads to it.
func (c Carrier) isTheVolume() bool {
	dev, ok := c.Place.View.NumberAt(c.Device.NodePath)
	return c.Device.Proven && (c.Device.NodePath == "" || !ok || dev == c.Device.Dev)
}

// heldData asks whether the volume provably was written to.
func heldData(pl *evidence.Place) evidence.Answer {
	lh := pl.Volume.LH()
	if lh == nil {
		return evidence.Unseen(evidence.Lack{Need: "api//persistentvolumes", Why: "whether the volume ever held data"})
	}
	size := lh.Status.ActualSize
	fact := evidence.FromAPI("volumes.longhorn.io "+lh.Name, "status.actualSize", fmt.Sprintf("%d of %d bytes", size, lh.Size))
	if lh.Size > 0 && size > lh.Size/100 {
		return evidence.Yes(fact)
	}
	return evidence.Unseen(evidence.Lack{Need: "api/longhorn.io/volumes", Why: "whether the volume ever held data"}).With(fact)
}

// attempt asks for a fresh word about a format of the volume here. Where the disk was read
// any such word counts; where it was not, mkfs must have failed for I/O errors, or the
// volume must have held data.
func attempt(pl *evidence.Place, means func(evidence.Text) bool) evidence.Answer {
	for _, t := range pl.Refused() {
		if here(pl, t) && !keptOff(pl, t) && means(t) {
			return evidence.Yes(t.Evidence())
		}
	}
	return evidence.Unseen(evidence.Lack{Need: "api//events", Why: "a fresh attempt to format the disk"})
}

// keptOff is a format that wrote nothing: a holder has the disk, or the program is not there. A
// log tells that and the attempt in lines of their own.
func keptOff(pl *evidence.Place, t evidence.Text) bool {
	return here(pl, t) && (t.Is(message.InUseBySystem) || t.Is(message.AlreadyMountedBusy) || t.Is(message.FsckMounted) || t.Is(message.CryptsetupInUse) || t.Is(message.WillNotMakeFSMounted) || t.Is(message.CannotOpenBlockdev) || strings.Contains(t.Raw, "executable file not found"))
}

// Reads is what the disk reads like, where that was not seen.
func (f Format) Reads(pl *evidence.Place) evidence.Answer {
	if f.Says != "unseen" {
		return evidence.Yes()
	}
	lack := evidence.Lack{Need: "node/" + pl.Node, Node: pl.Node, Why: "what the disk of the volume reads like"}
	if f.Seen {
		lack.Need += "/" + string(probes.Contents)
	}
	return evidence.Unseen(lack)
}
