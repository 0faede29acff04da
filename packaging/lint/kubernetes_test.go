package lint

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

// objects are the Kubernetes objects of a file.
type objects struct {
	deployments []appsv1.Deployment
	budgets     []policyv1.PodDisruptionBudget
	services    []corev1.Service
	secrets     []corev1.Secret
}

// take adds the object of a document.
func (o *objects) take(t *testing.T, document string) {
	t.Helper()
	var header struct{ Kind string }
	if err := yaml.Unmarshal([]byte(document), &header); err != nil {
		t.Fatal(err)
	}
	var err error
	switch header.Kind {
	case "Deployment":
		o.deployments, err = add(o.deployments, document)
	case "PodDisruptionBudget":
		o.budgets, err = add(o.budgets, document)
	case "Service":
		o.services, err = add(o.services, document)
	case "Secret":
		o.secrets, err = add(o.secrets, document)
	default:
		t.Errorf("kind %q is not checked", header.Kind)
	}
	if err != nil {
		t.Errorf("%s: %v", header.Kind, err)
	}
}

func add[T any](all []T, document string) ([]T, error) {
	var object T
	err := yaml.UnmarshalStrict([]byte(document), &object)
	return append(all, object), err
}

// selects reports whether a selector finds pods of one of the deployments.
func (o *objects) selects(selector map[string]string) bool {
	return slices.ContainsFunc(o.deployments, func(d appsv1.Deployment) bool {
		labels := maps.Clone(d.Spec.Template.Labels)
		maps.Copy(labels, selector)
		return len(selector) > 0 && maps.Equal(labels, d.Spec.Template.Labels)
	})
}

func TestTheKubernetesObjectsAreWhatKubernetesTakes(t *testing.T) {
	for _, c := range []struct {
		file                string
		workloads, services int
	}{{"worker.yaml", 1, 0}, {"database.yaml", 2, 1}} {
		var o objects
		text := strings.ReplaceAll(read(t, "packaging/kubernetes/"+c.file), "QUEUE", "eu") // as the comment in it says
		for document := range strings.SplitSeq(text, "\n---\n") {
			o.take(t, document)
		}
		if len(o.deployments) != c.workloads || len(o.budgets) != 1 || len(o.services) != c.services {
			t.Fatalf("%s: %d deployments, %d budgets, %d services", c.file, len(o.deployments), len(o.budgets), len(o.services))
		}
		for _, budget := range o.budgets {
			if !o.selects(budget.Spec.Selector.MatchLabels) {
				t.Errorf("%s: the disruption budget %s finds no pods", c.file, budget.Name)
			}
		}
		for _, service := range o.services {
			if !o.selects(service.Spec.Selector) {
				t.Errorf("%s: the service %s finds no pods", c.file, service.Name)
			}
		}
		for _, deployment := range o.deployments {
			o.check(t, deployment)
		}
	}
}

// check checks that a deployment finds its pods, that these may do little, and that gw-run takes their arguments.
func (o *objects) check(t *testing.T, d appsv1.Deployment) {
	t.Helper()
	if !o.selects(d.Spec.Selector.MatchLabels) {
		t.Errorf("%s: the selector finds none of its pods", d.Name)
	}
	pod := d.Spec.Template.Spec
	for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
		if may := container.SecurityContext; *may.AllowPrivilegeEscalation || !*may.ReadOnlyRootFilesystem || may.Capabilities.Drop[0] != "ALL" {
			t.Errorf("%s: the container %s may do more than it must", d.Name, container.Name)
		}
	}
	container := pod.Containers[0]
	checkArguments(t, container.Args)
	if container.Args[0] == "ui" {
		return
	}
	if len(pod.InitContainers) != 1 || pod.InitContainers[0].Command[0] != "/usr/local/bin/gw-migrate" {
		t.Errorf("%s: no init step migrates", d.Name)
	}
	if live, ready := container.LivenessProbe.HTTPGet.Path, container.ReadinessProbe.HTTPGet.Path; live != "/livez" || ready != "/readyz" {
		t.Errorf("%s: probes of %s and %s", d.Name, live, ready)
	}
}

// checkArguments checks that gw-run has these flags. With --help it does not begin.
func checkArguments(t *testing.T, args []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "./cmd/gw-run"}, append(args, "--help")...)...)
	cmd.Dir = root
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("gw-run %s: %v\n%s", strings.Join(args, " "), err, output)
	}
}
