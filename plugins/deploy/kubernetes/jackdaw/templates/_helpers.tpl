{{- define "jackdaw.labels" -}}
app.kubernetes.io/name: jackdaw
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "jackdaw.headLabels" -}}
{{ include "jackdaw.labels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* The configuration of the gateway, over the built-in one. */}}
{{- define "jackdaw.gatewayConfig" -}}
extends: default
receivers:
  trace_batch: { endpoint: '0.0.0.0:4319' }
  otlp: { protocols: { http: { endpoint: '0.0.0.0:4318' }, grpc: { endpoint: '0.0.0.0:4317' } } }
extensions:
  query: { endpoint: '0.0.0.0:4319' }
  health: { endpoint: '0.0.0.0:13133' }
service:
  # Between the signal and the closed listeners, services stop sending to the pod.
  shutdown_delay: 3s
  http:
    hosts: {{ concat (list .Release.Name (printf "%s.%s" .Release.Name .Release.Namespace) (printf "%s.%s.svc" .Release.Name .Release.Namespace) (printf "%s.%s.svc.cluster.local" .Release.Name .Release.Namespace)) .Values.gateway.hosts | toJson }}
  telemetry: { metrics: { endpoint: '0.0.0.0:8888' } }
{{- end }}

{{/* The configuration of an agent: complete, without a store. */}}
{{- define "jackdaw.agentConfig" -}}
auth: { bootstrap_key: '${env:JACKDAW_AGENT_KEY}' }
extensions:
  sqlite: {}
  health: { endpoint: '0.0.0.0:13133' }
receivers:
  trace_batch: { endpoint: '0.0.0.0:4319' }
  otlp: { protocols: { http: { endpoint: '0.0.0.0:4318' }, grpc: { endpoint: '0.0.0.0:4317' } } }
processors:
  validation: {}
  resource:
    rules:
      - when: '!("k8s.node.name" in resource)'
        set: { k8s.node.name: '"${env:NODE_NAME}"' }
exporters:
  otlp_http:
    endpoint: {{ .Values.agent.gatewayUrl | quote }}
    headers: { authorization: 'Bearer ${env:GATEWAY_KEY}' }
    queue: { type: disk, directory: ./queue, max_bytes: 10GiB, sync: always }
service:
  extensions: [health, sqlite]
  http: { hosts: ['${env:NODE_IP}', '${env:NODE_NAME}'] }
  pipelines:
    traces: { receivers: [trace_batch, otlp], processors: [validation, resource], exporters: [otlp_http] }
    metrics: { receivers: [otlp], processors: [validation, resource], exporters: [otlp_http] }
    logs: { receivers: [otlp], processors: [validation, resource], exporters: [otlp_http] }
  telemetry: { metrics: { endpoint: '0.0.0.0:8888' } }
{{- end }}

{{/* What both kinds of pods share. */}}
{{- define "jackdaw.podMetadata" -}}
labels:
  {{- include "jackdaw.labels" . | nindent 2 }}
annotations:
  checksum/config: {{ include (print $.Template.BasePath "/configmap.yaml") . | sha256sum }}
  {{- with .Values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "jackdaw.placement" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "jackdaw.container" -}}
name: jackdaw
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
args: [run, --config, /etc/jackdaw]
env:
  - { name: NODE_IP, valueFrom: { fieldRef: { fieldPath: status.hostIP } } }
  - { name: NODE_NAME, valueFrom: { fieldRef: { fieldPath: spec.nodeName } } }
{{- with .Values.existingSecret }}
envFrom: [{ secretRef: { name: {{ . }} } }]
{{- end }}
ports:
  - { name: grpc, containerPort: 4317{{ if eq .Values.mode "agent" }}, hostPort: 4317{{ end }} }
  - { name: otlp, containerPort: 4318{{ if eq .Values.mode "agent" }}, hostPort: 4318{{ end }} }
  - { name: api, containerPort: 4319{{ if eq .Values.mode "agent" }}, hostPort: 4319{{ end }} }
  - { name: metrics, containerPort: 8888 }
  - { name: health, containerPort: 13133 }
startupProbe: { httpGet: { path: /healthz, port: health }, periodSeconds: 5, failureThreshold: 60 }
livenessProbe: { httpGet: { path: /healthz, port: health }, periodSeconds: 20, timeoutSeconds: 5 }
readinessProbe: { httpGet: { path: /readyz, port: health }, periodSeconds: 5, timeoutSeconds: 5 }
resources: {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: config, mountPath: /etc/jackdaw, readOnly: true }
  - { name: data, mountPath: /var/lib/jackdaw }
{{- end }}
