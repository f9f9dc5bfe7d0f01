package message

// What kubelet says about the sources of a pod's volumes.
const (
	KeyNotFound Kind = "key-not-found" // a key of a Secret or ConfigMap (pkg/volume/{secret,configmap,projected})
	NoAccount   Kind = "account-not-found"
	NotADir     Kind = "not-a-directory"
	IsADir      Kind = "is-a-directory"
)

var sourceSentences = []sentence{
	says(KeyNotFound, `references non-existent (secret|config) key`),
	says(NoAccount, `failed to fetch token: \S+ "[^"]+" not found`), // in old captures what stands behind "token:" is hidden
	says(NotADir, `not a directory|trying to mount a directory onto a file|host path exists and is the expected type`),
	says(IsADir, `is a directory`),
}
