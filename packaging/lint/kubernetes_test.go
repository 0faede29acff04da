package lint

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

func TestTheKubernetesObjectsAreWhatKubernetesTakes(t *testing.T) {
	kinds := map[string]any{
		"Secret": &corev1.Secret{}, "Deployment": &appsv1.Deployment{}, "PodDisruptionBudget": &policyv1.PodDisruptionBudget{},
	}
	text, err := os.ReadFile(filepath.Join(root, "packaging/kubernetes/worker.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var header struct{ Kind string }
		if err := yaml.Unmarshal(document, &header); err != nil {
			t.Fatal(err)
		}
		object, known := kinds[header.Kind]
		if !known {
			t.Errorf("kind %q is not checked", header.Kind)
			continue
		}
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			t.Fatalf("%s: %v", header.Kind, err)
		}
	}

	deployment := kinds["Deployment"].(*appsv1.Deployment).Spec
	pod := deployment.Template
	for name, value := range deployment.Selector.MatchLabels {
		if pod.Labels[name] != value {
			t.Errorf("the selector %s=%s finds none of its pods", name, value)
		}
	}
	for name, value := range kinds["PodDisruptionBudget"].(*policyv1.PodDisruptionBudget).Spec.Selector.MatchLabels {
		if pod.Labels[name] != value {
			t.Errorf("the disruption budget's %s=%s finds none of its pods", name, value)
		}
	}
	if len(pod.Spec.InitContainers) != 1 || pod.Spec.InitContainers[0].Command[0] != "/usr/local/bin/gw-migrate" {
		t.Error("no init step migrates")
	}
	worker := pod.Spec.Containers[0]
	if live, ready := worker.LivenessProbe.HTTPGet.Path, worker.ReadinessProbe.HTTPGet.Path; live != "/livez" || ready != "/readyz" {
		t.Errorf("probes of %s and %s", live, ready)
	}
}
