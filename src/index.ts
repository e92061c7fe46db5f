/** The public API: all that a plugin may import. */
export type { Component, Reload } from './component/component.js';
export type { Status, StatusLevel } from './component/status.js';
export { ConsumeError } from './component/consume-error.js';
export type { ConsumeErrorCode } from './component/consume-error.js';
export type { Consumer, ConsumeContext, Passthrough, Receipt, Refusal } from './component/consumer.js';
export type { ComponentHealth, DaemonHealth, DaemonPhase } from './component/daemon-health.js';
export type { DaemonView, EdgeStats, PipelineShape, QueueStats } from './component/daemon-view.js';
export type {
  EdgeEnd,
  EdgeListener,
  EdgePlace,
  EdgeSample,
  Passed,
  SampledListener,
} from './component/edge-listener.js';
export type {
  CreateProcessor,
  Exporter,
  ExporterFactory,
  ExtensionFactory,
  Factory,
  Outputs,
  Plugin,
  ProcessorFactory,
  ReceiverFactory,
  Resource,
  Settings,
  Stability,
} from './component/factory.js';
export type { Kind } from './component/component-id.js';
export type { Caller, Host, ListenerOptions, TlsOptions } from './component/host.js';
export { HttpProblem } from './component/http.js';
export type { HttpRequest, HttpResponse, Listener, Route } from './component/http.js';
export type { Method } from './component/operation.js';
export type { Identity, Scope } from './component/identity.js';
export type { Operation } from './component/operation.js';
export type { SecretBox } from './component/secret-box.js';
export type { SmtpSettings } from './component/smtp.js';
export type { Clock, Counter, Histogram, Labels, Logger, Meter } from './component/telemetry.js';
export type { OpenSpan, Traced, TracedOutcome, Tracer } from './component/telemetry.js';
export type { JsonObject, JsonValue } from './signal/attributes.js';
export type {
  Batch,
  Batches,
  EventsBatch,
  LogsBatch,
  MetricsBatch,
  Signal,
  TracesBatch,
} from './signal/batch.js';
export type { AnyBatch, RawBatch, RawForm, RawRequest } from './signal/raw-batch.js';
export type { EventRecord, EventType } from './signal/event.js';
export type { LogRecord, Severity } from './signal/log-record.js';
export { GEN_AI_EVENTS, loggedEventName, type LoggedEvent } from './signal/logged-event.js';
export type { MetricPoint, MetricStream, MetricType, Temporality } from './signal/metric.js';
export { parseJson, serializeJson } from './signal/json.js';
export type { NanoUsd } from './signal/money.js';
export type { Origin } from './signal/origin.js';
export type { AgentHint, AgentSource, RunStatus, SpanRecord, SpanType } from './signal/span.js';
export type { Micros } from './signal/time.js';
export type { TraceHeader, TraceRecord } from './signal/trace.js';
export { durationMs } from './config/duration.js';
export {
  choice,
  duration,
  endpoint,
  extensionId,
  filePath,
  optionalEndpoint,
  secret,
  section,
  size,
} from './config/schema.js';
export { sizeBytes } from './config/size.js';
export { tlsFiles, tlsOptions, tlsResources } from './config/tls.js';
export { deliveryKeys } from './delivery/queue/config.js';
export type { DeliveryDefaults } from './delivery/queue/config.js';
export { Type, type Static } from 'typebox';
export { consumeKept, consumeUnrefused } from './component/keep-items.js';

// Capabilities of stores, for custom engines: each contract with its types.
export { isTelemetryStore } from './storage/contracts/telemetry-store.js';
export type { TelemetryStore } from './storage/contracts/telemetry-store.js';
export type * from './storage/contracts/paging.js';
export type * from './storage/contracts/telemetry-writer.js';
export type * from './storage/contracts/runs.js';
export type * from './storage/contracts/run-groups.js';
export type * from './storage/contracts/metrics.js';
export type * from './storage/contracts/logs.js';
export type * from './storage/contracts/service-map.js';
export type * from './storage/contracts/prompts.js';
export type * from './storage/contracts/alerts.js';
export { isControlStore } from './storage/contracts/control-store.js';
export type { ControlStore } from './storage/contracts/control-store.js';
export { ConflictError } from './storage/contracts/errors.js';
export type * from './storage/contracts/accounts.js';
export type * from './storage/contracts/deliveries.js';
export type * from './storage/contracts/events.js';
export type * from './storage/contracts/coordination.js';

// Earlier names, until the next release (CHANGELOG.md).
export { serializeJson as printJson } from './signal/json.js';
export { isControlStore as isControlPlane } from './storage/contracts/control-store.js';
export type { ControlStore as ControlPlane } from './storage/contracts/control-store.js';
export { isTelemetryStore as isTelemetryPlane } from './storage/contracts/telemetry-store.js';
export type { TelemetryStore as TelemetryPlane } from './storage/contracts/telemetry-store.js';
export type { EdgeStats as EdgeFigures, QueueStats as QueueFigures } from './component/daemon-view.js';
