package collect

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"k8s.io/client-go/rest"
)

// askable are the resources whose objects a question may name.
var askable = map[string]*resource{"pvc": claims, "pod": pods, "volume": pvs, "node": nodes}

// namesOnly asks for the metadata of a list, which is all that names need.
const namesOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// Names lists the objects that a question of a kind may name, the first page of
// them: for the completion of command lines.
func Names(ctx context.Context, config *rest.Config, kind, namespace string) ([]string, error) {
	r := askable[kind]
	if r == nil {
		return nil, nil
	}
	c, err := newClient(config)
	if err != nil {
		return nil, err
	}
	raw, err := c.rest.Get().AbsPath(r.path(r.versions[0], namespace, "")).
		SetHeader("Accept", namesOnly).Param("limit", strconv.Itoa(pageSize)).Do(ctx).Raw()
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", r.plural, err)
	}
	var list struct {
		Items []struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		} `json:"items"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("read the list of %s: %w", r.plural, err)
	}
	out := make([]string, 0, len(list.Items))
	for _, item := range list.Items {
		out = append(out, item.Metadata.Name)
	}
	return out, nil
}
