// Package collect reads from a live cluster what a question needs, and nothing
// whose amount grows with the cluster unless no name leads to it.
//
// # How it reads
//
// It starts at the object that was asked for and follows references in rounds:
// claim → PV → class, driver, attachments; claim → pods of its namespace → owners,
// nodes; node → its CSINode, Lease and pods; Longhorn volume → engines, replicas,
// tickets, managers. An object is asked for by name where its name can be
// computed (a VolumeAttachment is named by the hash of handle, driver and node), a
// list by a selector that the server applies. When the nodes have been looked at,
// the volumes that they have mounted are read as well.
//
// A sweep of the cluster lists everything; one of a namespace lists what lives there and
// follows references as a question about each of its claims would.
//
// # What an absent object means
//
// A snapshot says that a resource without object and without gap was collected
// and is empty. For a list that was narrowed to the question this holds because
// of one rule: whatever name stands in an object that was read, is asked for.
// So a rule that looks up a name finds the object, or the server has said that it
// does not exist, or there is a gap. What a rule may conclude only from a whole
// list is read whole when the narrow one leaves the question open:
//
//   - VolumeAttachments, when no node is known that has the volume attached: the
//     old node stands nowhere else. For a node always: an attachment whose
//     volume is gone is named by nothing.
//   - Nodes, for a pod without a node, for a claim without a volume, and for a
//     volume without VolumeAttachments that a pod waits for: status.volumesInUse. One that
//     nobody waits for is looked for on the first page of them, and on the nodes of which an
//     event says that they were lost.
//   - VolumeAttachments, Nodes and CSINodes, when a backend refuses an attach or a
//     node has too many volumes: any node may be the one that is named or counted.
//   - PersistentVolumes and CSIStorageCapacities, for a claim without a volume.
//   - VolumeAttributesClasses, when a claim names one.
//   - CSINodes and the pods of a driver, when the driver is missing on a node: it
//     may be missing everywhere.
//   - Longhorn's managers, when none that was read is Ready; its nodes, when a replica
//     has none or the volume migrates; the volumes beside one that is stuck.
//
// StorageClasses, CSIDrivers and DaemonSets are always read whole: their number
// does not grow with the cluster. The pods of the claim's namespace are, too:
// no selector finds the pods of a claim, and one that is missed could turn
// "nobody uses it" into a dangerous advice. Resources that nothing led to are tried
// with a list of one object, so that a refusal becomes a gap.
//
// # What goes wrong
//
// A refusal is a gap with the server's words and is not asked for again in the
// same namespace. Only a server that cannot be reached, or that does not accept who
// we are, ends the collection. Secrets are never asked for.
package collect
