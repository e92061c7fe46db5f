import type { ConsumeContext } from '../../component/consumer.js';
import { topmost } from '../../runs/rules/header-of-spans.js';
import { resourceOf } from '../../otlp/map/resource-of.js';
import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import type { Batch } from '../../signal/batch.js';
import type { EventRecord } from '../../signal/event.js';
import type { LogRecord } from '../../signal/log-record.js';
import type { MetricPoint } from '../../signal/metric.js';
import type { SpanRecord } from '../../signal/span.js';
import type { TraceRecord } from '../../signal/trace.js';
import type { Sender } from './identity-fields.js';
import { RECORD_TYPES, type Variable } from './record-types.js';
import { spanView } from './span-view.js';
import { RECORD, type View } from './view.js';

/** The variables of each kind of expression. */
export const SCOPES = {
  span: ['span', 'trace', 'resource', 'identity'],
  trace: ['trace', 'resource', 'identity'],
  log: ['log', 'resource', 'identity'],
  point: ['point', 'resource', 'identity'],
  event: ['event', 'identity'],
  resource: ['resource', 'identity'],
  items: ['items', 'identity'],
} as const satisfies Record<string, readonly Variable[]>;

export type ScopeName = keyof typeof SCOPES;

/** The values of the variables of an expression. */
export type Scope = Readonly<Partial<Record<Variable, View | JsonObject | readonly JsonValue[]>>>;

/** Who brought a batch, as expressions see it. */
export function identityView({ tenant }: Batch<unknown>, { keyId }: ConsumeContext): View<Sender> {
  return new RECORD_TYPES.identity.view({ userId: tenant, keyId: keyId ?? null });
}

export function traceView(record: TraceRecord): View<TraceRecord> {
  return new RECORD_TYPES.trace.view(record);
}

export function traceScope(trace: View<TraceRecord>, identity: View<Sender>): Scope {
  return new TraceScope(trace, identity);
}

export function spanScope(span: SpanRecord, trace: View<TraceRecord>, identity: View<Sender>): Scope {
  return new SpanScope(span, trace, identity);
}

export function logScope(log: LogRecord, identity: View<Sender>): Scope {
  return { log: new RECORD_TYPES.log.view(log), resource: log.origin.resource, identity };
}

export function pointScope(point: MetricPoint, identity: View<Sender>): Scope {
  return { point: new RECORD_TYPES.point.view(point), resource: point.stream.origin.resource, identity };
}

export function eventScope(event: EventRecord, identity: View<Sender>): Scope {
  return { event: new RECORD_TYPES.event.view(event), identity };
}

/** The scope for the resource of several items. */
export function resourceScope(resource: JsonObject, identity: View<Sender>): Scope {
  return { resource, identity };
}

/** The scope for values computed by other expressions. */
export function itemsScope(items: readonly JsonValue[], identity: View<Sender>): Scope {
  return { items, identity };
}

/** Most expressions do not use the resource, so it stays encoded until it is read. */
class SpanScope {
  readonly span: View<SpanRecord>;
  readonly trace: View<TraceRecord>;
  readonly identity: View<Sender>;
  readonly #span: SpanRecord;

  constructor(span: SpanRecord, trace: View<TraceRecord>, identity: View<Sender>) {
    this.#span = span;
    this.span = spanView(span);
    this.trace = trace;
    this.identity = identity;
  }

  get resource(): JsonObject {
    return resourceOf(this.#span);
  }
}

/** The resource of a run is that of its topmost span. */
class TraceScope {
  readonly trace: View<TraceRecord>;
  readonly identity: View<Sender>;

  constructor(trace: View<TraceRecord>, identity: View<Sender>) {
    this.trace = trace;
    this.identity = identity;
  }

  get resource(): JsonObject {
    const top = topmost(this.trace[RECORD].spans);
    return top === undefined ? NO_RESOURCE : resourceOf(top);
  }
}

const NO_RESOURCE: JsonObject = Object.freeze({});
