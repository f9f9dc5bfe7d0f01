package message

// What the scheduler says beside its predicates about volumes.
const (
	FargateRefuses Kind = "fargate-refuses" // the scheduler of EKS Fargate
	NoNodeID       Kind = "no-node-id"      // the attacher finds no id of the driver for a node
)

// VolumePredicates are the meanings by which the scheduler says that a volume keeps a pod
// from a node (pkg/scheduler/framework/plugins/{volumebinding,volumezone,nodevolumelimits,
// volumerestrictions}).
var VolumePredicates = []Kind{UnboundClaims, NodeAffinityConflict, NoVolumePlaced, MaxVolumes, ClaimInUse, ClaimNotFound, FargateRefuses}

var schedulerSentences = []sentence{
	says(NodeAffinityConflict, `volume node affinity conflict|match PersistentVolume's node affinity|NodeAffinity check failed`),
	says(NoVolumePlaced, `no available volume zone|find available persistent volumes to bind|bound to non-existent|no available disk|enough free storage`),
	says(ClaimInUse, `ReadWriteOncePod|already in use by another pod|already in-use by another pod`),
	says(UnboundClaims, `unbound (immediate )?PersistentVolumeClaims`),
	says(MaxVolumes, `max volume count|maximum number of attached`),
	says(FargateRefuses, `not supported on Fargate: volumes not supported`),
	says(NoNodeID, `has no NodeID annotation`),
}
