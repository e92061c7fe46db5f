import type { AsyncLocalStorage } from 'node:async_hooks';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
  type Span,
  type Tracer as ApiTracer,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import type { OpenSpan, Traced, TracedOutcome, Tracer } from '../../component/telemetry.js';
import { ConsumeError } from '../../component/consume-error.js';
import { TRACEPARENT, type Destination } from './exporters.js';

/** What is in progress: a traced request or call, or the sending of own telemetry, which is neither traced nor logged. */
export type Active = Span | 'sending';

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT };

/** Events about runs, which may be runs of the daemon itself. */
const RUN_EVENT = /^trace\./;

/** The daemon's traces with the SDK. */
export class SdkTracer implements Tracer {
  readonly #tracer: ApiTracer;
  readonly #active: AsyncLocalStorage<Active>;
  readonly #options: { readonly destination: Destination; readonly sampleRatio: number };
  /** Whether the server has turned out to be this daemon. */
  #isOwnServer = false;

  constructor(
    tracer: ApiTracer,
    active: AsyncLocalStorage<Active>,
    options: { readonly destination: Destination; readonly sampleRatio: number },
  ) {
    this.#tracer = tracer;
    this.#active = active;
    this.#options = options;
  }

  begin(request: Traced, traceparent: string | undefined): OpenSpan | undefined {
    if (traceparent === TRACEPARENT) this.#isOwnServer = true;
    const caller = traceparent === undefined ? null : parseTraceParent(traceparent);
    if (caller !== null && (caller.traceFlags & TraceFlags.SAMPLED) === 0) return undefined;
    // The caller selects the trace id, so the decision must not depend on it.
    if (!this.#isSampled()) return undefined;
    const parent =
      caller === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true });
    const { name, kind, attributes } = request;
    const span = this.#tracer.startSpan(name, { kind: KINDS[kind], attributes }, parent);
    return {
      within: (work) => this.#active.run(span, work),
      end: (outcome) => {
        end(span, outcome);
      },
    };
  }

  call<T>({ name, kind, attributes }: Traced, work: () => T): T {
    const active = this.#active.getStore();
    // Timers that a request has started run later than it, with the request still active.
    if (active === undefined || active === 'sending' || !active.isRecording()) return work();
    const parent = trace.setSpan(ROOT_CONTEXT, active);
    const span = this.#tracer.startSpan(name, { kind: KINDS[kind], attributes }, parent);
    const result = this.#active.run(span, work);
    // A call without a promise, such as a subscription, has nothing to measure: its span is never sent.
    if (result instanceof Promise)
      result.then(
        () => {
          end(span, {});
        },
        (error: unknown) => {
          end(span, { error: error instanceof ConsumeError ? error.code : 'error' });
        },
      );
    return result;
  }

  delivered(
    delivery: Traced,
    {
      durationMs,
      tenant,
      ...outcome
    }: TracedOutcome & { readonly durationMs: number; readonly tenant?: string },
  ): void {
    if (!this.#isSampled() || this.#isOfOwnTelemetry(delivery, tenant)) return;
    const { name, kind, attributes } = delivery;
    const startTime = Date.now() - durationMs;
    end(this.#tracer.startSpan(name, { kind: KINDS[kind], attributes, startTime }, ROOT_CONTEXT), outcome);
  }

  bind(): <T>(work: () => T) => T {
    const active = this.#active.getStore();
    return (work) => (active === undefined ? work() : this.#active.run(active, work));
  }

  #isSampled(): boolean {
    return Math.random() < this.#options.sampleRatio;
  }

  /** Whether a delivery may be of data that this daemon wrote about itself: its trace would be delivered, too, and so on. */
  #isOfOwnTelemetry({ attributes }: Traced, tenant: string | undefined): boolean {
    const { destination } = this.#options;
    const isSelf = destination.kind === 'self';
    if (!isSelf && !this.#isOwnServer) return false;
    if (RUN_EVENT.test(String(attributes['jackdaw.event.type']))) return true;
    if (tenant === undefined) return false;
    const own = isSelf ? destination.userId() : undefined;
    return own === undefined || own === tenant;
  }
}

function end(span: Span, { attributes, error }: TracedOutcome): void {
  if (attributes !== undefined) span.setAttributes(attributes);
  if (error !== undefined) {
    span.setAttribute('error.type', error);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}
