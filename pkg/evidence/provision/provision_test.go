package provision_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/provision"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func TestAbout(t *testing.T) {
	t.Parallel()
	source := &corev1.PersistentVolumeClaim{}
	source.Spec.DataSource = &corev1.TypedLocalObjectReference{Kind: "VolumeSnapshot", Name: "snap-1"}
	for text, want := range map[string]string{
		"error getting handle for DataSource Type VolumeSnapshot by Name snap-1: snap-1 is not Ready":                           "its source is not ready",
		"error getting handle for DataSource Type VolumeSnapshot by Name snap-1: error getting snapshot snap-1 from api server": "its source does not exist or cannot be read",
		"CSI driver does not support clone operations: controller CLONE_VOLUME capability is not reported":                      "its driver fills no volume from such a source",
		"CSI driver does not support snapshot restore: controller CREATE_DELETE_SNAPSHOT capability is not reported":            "its driver fills no volume from such a source",
		"CSI driver does not support dynamic provisioning: controller CREATE_DELETE_VOLUME capability is not reported":          "its own words are quoted below",
		"the PVC src is not bound":                 "its source is not ready",
		"claim in dataSource not bound or invalid": "its source is not ready",
		"the source PVC and destination PVCs must be in the same storage class for cloning.":                                                                                                                            "the claim does not fit its source",
		"rpc error: code = Aborted desc = an operation with the given Volume ID pvc-1 already exists":                                                                                                                   "an earlier request of it still runs in the driver",
		`Internal error occurred: failed calling webhook "validator.longhorn.io": context deadline exceeded`:                                                                                                            "the control plane of the storage did not answer a webhook",
		"rpc error: code = ResourceExhausted desc = insufficient free space":                                                                                                                                            "capacity or quota is exhausted",
		"rpc error: code = Internal desc = Fileset pvc-1 present but quota 200001191936 does not match with requested size 200000000000":                                                                                "its own words are quoted below",
		"rpc error: code = Internal desc = VolumeSizeExceedsAvailableQuota: exceeds allowed quota":                                                                                                                      "capacity or quota is exhausted",
		"rpc error: code = NotFound desc = volume source snapshot s-1 not found":                                                                                                                                        "its source does not exist or cannot be read",
		"rpc error: code = Internal desc = failed to mount nfs server: mount failed: exit status 32\nOutput: mount.nfs: access denied by server while mounting 10.9.0.5:/export":                                        "its controller cannot mount a share that it needs for that",
		"rpc error: code = Internal desc = mount failed: exit status 32\nOutput: mount.nfs: rpc.statd is not running but is required for remote locking.":                                                               "its controller cannot mount a share that it needs for that",
		"unable to create directory to provision new pv: mkdir /persistentvolumes/shop-data-pvc-1: permission denied":                                                                                                   "it may not make the volume's directory",
		"rpc error: code = PermissionDenied desc = access denied":                                                                                                                                                       "the storage refuses the driver's user",
		"rpc error: code = InvalidArgument desc = Volume capabilities MULTI_NODE_MULTI_WRITER not supported. Only AccessModes[ReadWriteOnce] supported.":                                                                "it makes none with the claim's access or volume mode",
		"rpc error: code = InvalidArgument desc = capability at index 0 is not supported":                                                                                                                               "it makes none with the claim's access or volume mode",
		"rpc error: code = InvalidArgument desc = invalid encryption kms configuration: missing encryption passphrase in secrets":                                                                                       "the Secret of the class lacks an entry",
		"rpc error: code = InvalidArgument desc = type gp9":                                                                                                                                                             "a parameter of the request is not accepted",
		"rpc error: code = DeadlineExceeded desc = context deadline exceeded":                                                                                                                                           "the storage did not answer in time",
		"rpc error: code = Internal desc = XFS filesystems with size less than 300MB":                                                                                                                                   "the size is below the least size of XFS",
		"rpc error: code = OutOfRange desc = 17Ti exceeds 16Ti":                                                                                                                                                         "the size is out of the range that the storage offers",
		"rpc error: code = Internal desc = googleapi: Error 400: Invalid value for field":                                                                                                                               "a parameter of the request is not accepted",
		"rpc error: code = Unavailable desc = ZONE_RESOURCE_POOL_EXHAUSTED":                                                                                                                                             "capacity or quota is exhausted",
		"rpc error: code = Internal desc = no reason":                                                                                                                                                                   "its own words are quoted below",
		"rpc error: code = Internal desc = Could not create volume \"pvc-1\": failed to get an available volume in EC2: InvalidVolume.NotFound: The volume 'vol-1' does not exist.\n\tstatus code: 400, request id: f4": "what the cloud made is gone again at once",
		"rpc error: code = Internal desc = Could not create volume \"pvc-1\": InvalidSnapshot.NotFound: The snapshot 'snap-1' does not exist.\n\tstatus code: 400, request id: f4":                                      "its source does not exist or cannot be read",
		"rpc error: code = Internal desc = Could not create volume \"pvc-1\": InvalidParameterValue: no gp9\n\tstatus code: 400, request id: f4":                                                                        "a parameter of the request is not accepted",
	} {
		if got, help, _ := provision.About(evidence.Text{Raw: text}, source); got != want || help == "" {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
	}
}

// What words say of a snapshot is nothing about a claim that is to be made empty.
func TestAboutEmpty(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`failed to provision volume with StorageClass "fast-snapshot": rpc error: code = Internal desc = pool tank not found`: "its own words are quoted below",
		"rpc error: code = NotFound desc = resource group of the class not found":                                             "its own words are quoted below",
		`rpc error: code = InvalidArgument desc = snapshot policy "daily" not found`:                                          "a parameter of the request is not accepted",
	} {
		if got, _, source := provision.About(evidence.Text{Raw: text}, &corev1.PersistentVolumeClaim{}); got != want || source {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestFirstHand(t *testing.T) {
	t.Parallel()
	own := message.Parse(`failed to provision volume with StorageClass "fast": rpc error: code = Internal desc = no`)
	if a := provision.FirstHand(evidence.Text{Fresh: true, Failure: own}); !a.Yes() {
		t.Error("the driver's fresh word is first hand")
	}
	if a := provision.FirstHand(evidence.Text{Failure: own}); !a.Unseen() {
		t.Error("an old word is none of now")
	}
	if a := provision.FirstHand(evidence.Text{Fresh: true}); !a.Unseen() {
		t.Error("somebody else's word is not the driver's")
	}
}

func TestQuoted(t *testing.T) {
	t.Parallel()
	if got := provision.Quoted(evidence.Text{Raw: "outer: inner", Failure: message.Failure{Desc: "inner"}}); got != `"inner"` {
		t.Errorf("got %s", got)
	}
}

// TestNamed: what of the request a refusal names, whole and not as a part of another word.
func TestNamed(t *testing.T) {
	t.Parallel()
	x := snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"topology.kubernetes.io/zone": "eu-1a"}}}}}})
	claim := &corev1.PersistentVolumeClaim{}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}
	class := &storagev1.StorageClass{Parameters: map[string]string{"type": "io9", "encrypted": "true"}}
	class.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: "topology.kubernetes.io/zone", Values: []string{"eu-9z"}}}}}
	claim.Spec.DataSource = &corev1.TypedLocalObjectReference{Kind: "VolumeSnapshot", Name: "snap-1"}
	pl := &evidence.Place{X: x, Volume: &snapshot.Volume{Claim: claim, Class: class}}
	for text, want := range map[string]string{
		"disk of 10 GB is too small":                 "the size 10Gi of the claim",
		"requested 10737418240 bytes":                "the size 10Gi of the claim",
		"requested 10 volumes of 100 GB, 110GB":      "",
		"no capacity in zone eu-1a":                  "zone eu-1a",
		"The zone 'eu-9z' does not exist":            "zone eu-9z",
		"snapshot snap-1 is not Ready":               "the source VolumeSnapshot snap-1 of the claim",
		"snapshot snap-12 is not Ready":              "",
		"zone eu-1ab, type io99":                     "",
		"type (io9) is true of 10GiB in zones/eu-1a": "the size 10Gi of the claim, parameter type io9 of the class, zone eu-1a",
	} {
		if got := strings.Join(provision.Named(pl, evidence.Text{Raw: text}), ", "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
