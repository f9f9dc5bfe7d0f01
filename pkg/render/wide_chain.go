package render

const brokenMark = "✗"

// chain prints one row per object; the broken row has a mark and, on a terminal,
// a colour.
func (p *page) chain() {
	if len(p.r.Chain) == 0 {
		return
	}
	p.title("CHAIN")
	rows := [][]string{}
	for _, l := range p.r.Chain {
		mark := ""
		if l.Broken {
			mark = brokenMark
		}
		rows = append(rows, []string{mark, shortKind(l.Kind), line(l.Name), line(l.State), lasting(l.Since, p.r.TakenAt), line(l.Note)})
	}
	head := []string{"", "OBJECT", "NAME", "STATE", "SINCE", "NOTE"}
	p.table(head, rows, -1, 4)
}

// shortKind uses short names where the long ones would fill the page.
func shortKind(kind string) string {
	switch kind = line(kind); kind {
	case "PersistentVolumeClaim":
		return "PVC"
	case "PersistentVolume":
		return "PV"
	case "VolumeAttachment":
		return "Attachment"
	}
	return kind
}
