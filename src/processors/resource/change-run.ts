import { changeSpans } from '../../expressions/rules/consume-changed.js';
import type { Fate } from '../../expressions/rules/rules.js';
import { objectOf } from '../../otlp/encode/value.js';
import { hintAfterChange } from '../../otlp/map/agent-hint.js';
import { AgentNames } from '../../otlp/map/agent-names.js';
import { copyOf } from '../../otlp/map/any-value.js';
import { mappedMetadata } from '../../otlp/map/mapped-metadata.js';
import { originWith } from '../../otlp/map/origin.js';
import { sdkVersionOf } from '../../otlp/map/root-span.js';
import { dimensionsOf } from '../../runs/rules/context-of-spans.js';
import { headerOf, topmost } from '../../runs/rules/header-of-spans.js';
import type { JsonObject } from '../../signal/attributes.js';
import type { Origin } from '../../signal/origin.js';
import {
  DIMENSIONS,
  filledContext,
  NO_CONTEXT,
  runContext,
  type Dimension,
  type RunContext,
} from '../../signal/run-context.js';
import { replaceSent, sentOf, type SentOrigin, type SentSpan } from '../../signal/sent-span.js';
import type { SpanRecord } from '../../signal/span.js';
import type { TraceHeader, TraceRecord } from '../../signal/trace.js';
import type { ChangedDeployment, ChangedResources } from './changed-resources.js';

const NAMES = new AgentNames();
const NO_RESOURCE: JsonObject = Object.freeze({});

/** A changed resource of a span. */
interface SpanChange {
  readonly before: Origin;
  readonly after: Origin;
  readonly deployment: ChangedDeployment;
  /** The received form and its new origin; absent if `metadata` was changed since and holds the resource. */
  readonly received?: { readonly span: SentSpan; readonly origin: SentOrigin };
}

/** Changes the resources of a run's spans and what the mapping derived from them; of a declared run, its header as well. */
export function changeRun(
  item: TraceRecord,
  resources: ChangedResources,
  countDropped: (spans: number) => void,
): Fate {
  const { trace, spans } = item;
  const changes = new Map<SpanRecord, SpanChange>();
  const ofSpans = changeSpans(item, (span) => find(span, resources, changes), countDropped);
  if (ofSpans !== 'keep') return ofSpans;
  if (changes.size > 0) {
    const byId = new Map(spans.map((span) => [span.span_id, span]));
    for (const [span, change] of changes) {
      const parent = span.parent_span_id === null ? undefined : byId.get(span.parent_span_id);
      const ofParent = parent && changes.get(parent)?.received?.span.origin;
      apply(span, change, ofParent === undefined || ofParent !== change.received?.span.origin);
    }
  }
  if (!trace.follows_spans) return changeDeclared(trace, resources);
  if (changes.size > 0) followSpans(item, changes);
  return 'keep';
}

/** Adds the change of a span's resource to `changes`. A span that was not received by OTLP has no resource. */
function find(span: SpanRecord, resources: ChangedResources, changes: Map<SpanRecord, SpanChange>): Fate {
  const received = sentOf(span);
  if (received !== undefined) {
    const { sent: origin, ...change } = resources.sentOrigin(received.origin);
    if (change.after !== change.before)
      changes.set(span, { ...change, received: { span: received, origin } });
    return change.fate;
  }
  const metadata = mappedMetadata(span)?.metadata;
  if (metadata === undefined) return 'keep';
  const { fate, before, after, deployment } = resources.resource(objectOf(metadata.resource) ?? NO_RESOURCE);
  const scope = objectOf(metadata.scope) ?? null;
  if (after !== before)
    changes.set(span, {
      before: originWith(before, scope),
      after: originWith(after, scope),
      deployment,
    });
  return fate;
}

/** @param isTop whether the span has the dimensions of its resource: a run takes them from its topmost spans */
function apply(span: SpanRecord, change: SpanChange, isTop: boolean): void {
  const { before, after, received } = change;
  const { context } = span;
  if (isTop) span.context = contextAfter(span, change);
  span.agent_hint = hintAfterChange(span, before, after, NAMES);
  if (received === undefined) {
    span.metadata = { ...span.metadata, resource: copyOf(after.resource) };
    return;
  }
  const { mapped } = received.span;
  replaceSent(span, {
    ...received.span,
    origin: received.origin,
    mapped: mapped.context === context ? { ...mapped, context: span.context } : mapped,
  });
}

function contextAfter({ context }: SpanRecord, { deployment, received }: SpanChange): RunContext | null {
  const mapped = received?.span.mapped;
  if (mapped?.own_context !== undefined && mapped.context === context)
    return filledContext(mapped.own_context, deployment.after === NO_CONTEXT ? null : deployment.after);
  const { session_id, user_id, tags } = context ?? NO_CONTEXT;
  const dimensions = dimensionsAfter(context, deployment);
  return runContext({ session_id, user_id, tags: tags && [...tags], ...dimensions });
}

/** Dimensions after a change of the resource. Those that equal the old resource's come from it; others stay. */
function dimensionsAfter(
  given: Readonly<Record<Dimension, string | null>> | null,
  { before, after }: ChangedDeployment,
): Record<Dimension, string | null> {
  const value = (field: Dimension): string | null => {
    const own = given?.[field] ?? null;
    return (own === before[field] ? null : own) ?? after[field];
  };
  return Object.fromEntries(DIMENSIONS.map((field) => [field, value(field)])) as Record<
    Dimension,
    string | null
  >;
}

/** Updates the header of an undeclared run, as the mapping derives it. */
function followSpans({ trace, spans }: TraceRecord, changes: ReadonlyMap<SpanRecord, SpanChange>): void {
  const top = topmost(spans);
  trace.agent = headerOf(spans, false, top).agent;
  Object.assign(trace, dimensionsOf(spans));
  const change = top && changes.get(top);
  if (change === undefined) return;
  const { before, after } = change;
  trace.metadata = { ...trace.metadata, resource: copyOf(after.resource) };
  if (trace.sdk_version === sdkVersionOf(before)) trace.sdk_version = sdkVersionOf(after);
}

/** A declared header has its resource in its metadata. */
function changeDeclared(trace: TraceHeader, resources: ChangedResources): Fate {
  const given = trace.metadata?.resource;
  const resource = objectOf(given);
  const { fate, before, after, deployment } = resources.resource(resource ?? NO_RESOURCE);
  if (fate !== 'keep' || after === before) return fate;
  Object.assign(trace, dimensionsAfter(trace, deployment));
  // A value of another type is the sender's own.
  if (given === undefined || resource !== undefined)
    trace.metadata = { ...trace.metadata, resource: copyOf(after) };
  return fate;
}
