package mask

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// glued is the password right behind its option (mysql(1), mongo(1), sshpass(1)).
var glued = pattern.MustCompile(`((?:mysql|mariadb|mongo|sshpass|pg_dump|redis-cli)[^\n]*?\s-[pa])(\S+)`)

// programsOf are the words of which one stands in each command with a secret that has no name.
var programsOf = []string{"sshpass", "redis-cli", "curl", "docker", "podman", "nerdctl", "helm", "ldap", "ipmitool", "sqlcmd", "openssl", "sqlplus", "mc alias", "net use", "user login", "inguser", "outgoinguser",
	"identified by", "echo", "printf", "<<<", "securestring", "incominguser", "mysql", "mariadb", "mongo", "pg_dump", "smbclient", "rpcclient", "etcdctl", "fence_", "hacluster", "microk8s join", "config host add", "mc admin", "object secret", "secret-set-value"}

// behind is a password by its place alone: the next word (sshpass(1), redis-cli), behind a user
// (curl(1), sqlplus), behind a name (tgt-admin(8)), given to a program through a pipe.
var behind = pattern.MustCompile(`(?i)(\b(?:sshpass|redis-cli)\b[^\n]*?\s-[pa]\s+|\b(?:curl|etcdctl)\b[^\n]*?\s(?:-u|-U|--user|--proxy-user)[ =]?[^\s:]+:|\b(?:docker|podman|nerdctl|helm)\b[^\n]*?\blogin\b[^\n]*?\s-p\s+` +
	`|\bldap[a-z]+\b[^\n]*?\s-w\s+|\b(?:ipmitool|sqlcmd)\b[^\n]*?\s-P\s+|\bopenssl\b[^\n]*?\spass:|\bsqlplus\s+[^\s/]+/` +
	`|\bnet use \S+ \S+ |\buser login \S+ |\b(?:incoming|outgoing)user \S+ |\bIDENTIFIED BY\s+["']|\bConvertTo-SecureString\s+(?:-String\s+)?["']?|<<<\s*["']?` +
	`|\b(?:fence_[a-z_]+|pcs)\b[^\n]*?\s-p\s+|\bmicrok8s join [^\s/]+/|\bmc admin user add \S+ \S+ |\bobject secret,\S*?data=|\bsecret-set-value \S+ (?:--base64 )?)[^\s\-"'@][^\s"'@]*`)

// alias is where mc(1) of MinIO gets a user and a password behind two names.
var alias = pattern.MustCompile(`(\bmc (?:alias set|config host add) \S+ \S+ )\S+ \S+`)

// written is a line of a file of passwords, of s3fs(1) or ossfs: BUCKET:NAME:SECRET.
var written = pattern.MustCompile(`(\becho\s+[^\s:]+:[^\s:]+:)[^\s>]+(\s*>+\s*\S*passwd)`)

// piped is what a program that asks for a password gets from another one.
var piped = pattern.MustCompile(`(\b(?:echo|printf)\s+(?:-[ne]+\s+|["']?%s(?:\\n)?["']?\s+)*["']?)([^\s"'|]+)(["']?\s*\|\s*(?:sudo\s+)?(?:\S*/)?(?:cryptsetup|kinit|docker|podman|helm|passwd|chpasswd|sudo|smbpasswd|iscsiadm|gpg|openssl|oc|skopeo|ssh-add|sshfs|zfs|mount)\b)`)

// commands hides what a program gets by its place on a command line.
func commands(s string) string {
	lower := strings.ToLower(s)
	found := false
	for _, p := range programsOf {
		found = found || strings.Contains(lower, p)
	}
	if !found {
		return s
	}
	s = piped.ReplaceAllString(s, "${1}"+Hidden+"${3}")
	s = written.ReplaceAllString(s, "${1}"+Hidden+"${2}")
	s = alias.ReplaceAllString(s, "${1}"+Hidden+" "+Hidden)
	s = behind.ReplaceAllString(s, "${1}"+Hidden)
	return glued.ReplaceAllString(s, "${1}"+Hidden)
}
