{{- define "ams.fullname" -}}
{{- if contains "ams" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-ams" (.Release.Name | trunc 36 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "ams.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- with get . "worker" }}
ams/worker: {{ . }}
{{- end }}
{{- end }}

{{- define "ams.labels" -}}
{{ include "ams.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "ams.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* Helm reads numbers as floats, which print as 1e+06. */}}
{{- define "ams.text" -}}
{{- if kindIs "float64" . }}{{ printf "%.0f" . }}{{ else }}{{ toString . }}{{ end }}
{{- end }}

{{/* The settings of every process. TRUST_PROXY follows the Ingress unless it is set. */}}
{{- define "ams.env" -}}
{{- $settings := merge (dict) .Values.settings }}
{{- if and .Values.ingress.enabled (not (hasKey $settings "TRUST_PROXY")) }}{{ $_ := set $settings "TRUST_PROXY" true }}{{ end }}
{{- range $name, $value := $settings }}
{{- if not (kindIs "invalid" $value) }}
- name: {{ $name }}
  value: {{ include "ams.text" $value | quote }}
{{- end }}
{{- end }}
{{- range $name, $reference := .Values.secrets }}
{{- if $reference }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $reference.name }}
      key: {{ $reference.key }}
{{- end }}
{{- end }}
- name: PORT
  value: '3000'
- name: OPS_PORT
  value: '9464'
- name: DATA_DIR
  value: /data
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "ams.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* The fields of every Pod. */}}
{{- define "ams.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The claim of the attachments; empty when they are in S3. */}}
{{- define "ams.claim" -}}
{{- if not (get .Values.settings "S3_BUCKET") }}{{ .Values.storage.existingClaim | default (printf "%s-data" (include "ams.fullname" .)) }}{{ end }}
{{- end }}

{{- define "ams.volumes" -}}
- name: tmp
  emptyDir: {}
- name: data
  {{- with include "ams.claim" . }}
  persistentVolumeClaim:
    claimName: {{ . }}
  {{- else }}
  emptyDir: {}
  {{- end }}
{{- end }}

{{- define "ams.volumeMounts" -}}
- name: tmp
  mountPath: /tmp
- name: data
  mountPath: /data
{{- end }}

{{/* Evenly over zones and nodes, counted for each release of the Pods on its own. */}}
{{- define "ams.spread" -}}
{{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
- maxSkew: 1
  topologyKey: {{ $key }}
  whenUnsatisfiable: ScheduleAnyway
  matchLabelKeys: [pod-template-hash]
  labelSelector:
    matchLabels:
      {{- include "ams.selector" $ | nindent 6 }}
{{- end }}
{{- end }}

{{/* Liveness restarts only a process that does not respond; readiness fails while a required part is unavailable or migrations are missing. */}}
{{- define "ams.probes" -}}
startupProbe:
  httpGet: { path: /livez, port: {{ . }} }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /livez, port: {{ . }} }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: {{ . }} }
  periodSeconds: 5
  timeoutSeconds: 4
  failureThreshold: 2
{{- end }}

{{/* A stop takes at most 38 seconds plus DRAIN_SECONDS; see docs/operations.md. */}}
{{- define "ams.grace" -}}
{{- $drain := 5 }}
{{- with .Values.settings }}{{ if hasKey . "DRAIN_SECONDS" }}{{ $drain = int .DRAIN_SECONDS }}{{ end }}{{ end }}
{{- add 40 $drain }}
{{- end }}

{{- define "ams.budget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  labels:
    {{- include "ams.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "ams.selector" . | nindent 6 }}
{{- end }}
