package message

// What storage backends say of themselves through a driver.
const (
	Throttled     Kind = "throttled"        // too many calls in a time
	StillWorking  Kind = "still-working"    // the backend works on it and says so
	Amount        Kind = "amount"           // a quota, a stock or a number of the account is used up
	Closed        Kind = "closed"           // the account or project is served nothing, or not this: unpaid, locked, not enabled, barred by a policy for all
	PutOff        Kind = "put-off"          // the driver itself waits before it tries again
	NodeUnknown   Kind = "node-unknown"     // no machine, host entry or initiator of that node
	VolumeUnknown Kind = "volume-unknown"   // no volume or disk of that id
	OfflineOnly   Kind = "offline-only"     // enlarging a volume that is in use is not supported
	ExpandRefused Kind = "expand-refused"   // external-resizer: the driver refuses to enlarge a volume
	KubeForbidden Kind = "forbidden-by-api" // the Kubernetes API refuses a ServiceAccount
)

// backendSentences are examples of classes: codes of clouds and sentences of drivers.
var backendSentences = []sentence{
	says(Throttled, `(\b|user)rate[ _-]?limit|rate ?exceeded|retry quota exceeded|(modification|request|api|call) rate\b.{0,20}\blimit|requests per (second|minute|hour) reached|got 429 instead|RequestLimitExceeded|request limit exceeded|throttl|TooManyRequests|too many requests|StatusCode[:=] ?429|status code[: ]+429|HTTP 429|Error 429|too many pending operations|RetryAfter: ?[1-9]\d*s`),
	says(StillWorking, `expected device to be attached but was (attaching|detaching)|volume is (still )?(attaching|detaching|creating)|in (the )?(state|status) (of )?"?(attaching|detaching|creating)|another operation .{0,40}in progress|\b(flatten|clone|cloning|copy|copying|restore|restoring|hydration|split|import)\b.{0,60}\bin progress|still being (created|cloned|copied|restored|modified|optimized)|in (modification state )?"?optimizing"?( state)?\b|is busy with another operation|`+
		`\b(server|instance|machine|vm|droplet|linode)\b[^.:;]{0,60}\b(is (currently )?busy|is locked \(locked\)|(already )?has (a )?pending (event|action|task)\b|while it is in task_state\b)|in a transient state`),
	says(Amount, `code = ResourceExhausted\b|\bquotas?\b[^;\n]{0,60}\b(exceeded|reached|insufficient|short|limit)|\b(exceed\w*|insufficient|reach\w*|over)\b[^;\n]{0,60}\bquotas?\b|quota_?(limit|exceeded)|(exceeds|over)\w*quota|overLimit|limit[ _]?exceeded\b|\bsold out\b|\bout of (usage|stock|capacity)\b|\bno ?stock\b|\btry other\b`),
	says(Closed, `\bbilling (account|is|has|to be|enabled|disabled)|\b(has|enable|requires) billing\b|(account|enough|insufficient) ?balance|\binsufficient (credits?|funds)\b|\barrears\b|payment required|((your|this|billing|customer|owning) (account|project)|the (subscription|organi[sz]ation|cloud|tenant))\b[^.;\n]{0,60}\b(is|has been|currently) (not (been )?)?(\w+ ){0,2}(disabled|blocked|locked|suspended|restricted|closed|active|certified|verified)\b|account has not been (certified|verified)|not ?certification|PendingVerification|RiskControl|`+
		`has not been used in project|accessNotConfigured|SERVICE_DISABLED|OptInRequired|not subscribed to|not registered to use namespace|disallowed ?by ?policy|\bconstraint \S+ violated`),
	says(PutOff, `(due to|in|during) (a |the )?back-?off\b|backing off\b`),
	says(NodeUnknown, `(node|virtual ?machine|instance|host|machine|server|droplet|linode|initiators?|vm)\b:?(?:[^.:;]|[.:]\S){0,80}(wasn't found|was not found|not found|doesn't exist|does not exist|could not be found)|(could not|cannot|can't|unable to|failed to|couldn't) (find|get|locate|lookup|look up) .{0,30}(node|virtual ?machine|instance|host|machine|server|initiators?|vm)\b|InvalidInstanceID|no (host|initiator|node|instance)s? (was )?(found|registered|match)`),
	says(VolumeUnknown, `(\b|persistent)(volume|disk|snapshot)\b[^.:;\]]{0,60}(wasn't found|was not found|not found|doesn't exist|does not exist)|InvalidVolume\.NotFound|(could not|cannot|can't|unable to|failed to) (find|get|locate) (the )?(volume|disk)\b`),
	says(OfflineOnly, `only supports? offline expansion|offline (volume )?expansion|currently (published|attached|in-use|in use)`),
	says(ExpandRefused, `by resizer "[^"]+" failed|only supports offline expansion`),
	says(KubeForbidden, `forbidden: User "system:serviceaccount:`),
}
