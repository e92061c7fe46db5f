import { dimensionsOf } from '../../../runs/rules/context-of-spans.js';
import { headerOf, topmost } from '../../../runs/rules/header-of-spans.js';
import type { SpanRecord } from '../../../signal/span.js';
import type { Micros } from '../../../signal/time.js';
import type { TraceHeader, TraceRecord } from '../../../signal/trace.js';
import type { JournalRecord } from './journal.js';

/** A part of a run, from one request. */
export interface Part {
  readonly item: TraceRecord;
  /** Approximate memory. */
  readonly bytes: number;
  readonly receivedAt: Micros;
  /** Its location on disk. */
  readonly record: JournalRecord;
}

/** An undecided run. */
export class HeldRun {
  readonly tenant: string;
  readonly key: string;
  readonly parts: Part[] = [];
  bytes = 0;
  /** When its last part arrived. */
  lastSeenAt: Micros = 0;
  /** When its end arrived; null: still running. */
  endedAt: Micros | null = null;

  constructor(tenant: string, traceId: string) {
    this.tenant = tenant;
    this.key = keyOf(tenant, traceId);
  }

  add(part: Part, now: Micros): void {
    this.parts.push(part);
    this.bytes += part.bytes;
    this.lastSeenAt = now;
    if (hasEnd(part.item)) this.endedAt ??= now;
  }

  /** The run, merged from all its parts. */
  whole(): TraceRecord {
    const spans = new Map<string, SpanRecord>();
    for (const { item } of this.parts)
      for (const span of item.spans) {
        const known = spans.get(span.span_id);
        if (known === undefined || known.status === 'running') spans.set(span.span_id, span);
      }
    const all = [...spans.values()];
    const headers = this.parts.map(({ item }) => item.trace);
    const declared = headers.filter((header) => !header.follows_spans);
    const header = declared.find(({ status }) => status !== 'running') ?? declared[0] ?? this.#leading(all);
    const rated = headers.find(({ success }) => success !== null);
    const trace = {
      ...(all.length === 0 ? header : withSpans(header, all)),
      success: header.success ?? rated?.success ?? null,
      outcome: header.outcome ?? headers.find(({ outcome }) => outcome !== null)?.outcome ?? null,
    };
    return { trace, spans: all };
  }

  /** The header of the part that contains the topmost span. */
  #leading(all: readonly SpanRecord[]): TraceHeader {
    const top = topmost(all);
    const part = this.parts.find(({ item }) => item.spans.some((span) => span === top)) ?? this.parts[0];
    if (part === undefined) throw new Error('a run without parts is held');
    return part.item.trace;
  }
}

export function keyOf(tenant: string, traceId: string): string {
  return `${tenant} ${traceId}`;
}

/** Whether a part ends the run: a declared header, or a root span, perhaps with a parent in another process. */
function hasEnd({ trace, spans }: TraceRecord): boolean {
  if (trace.status !== 'running') return true;
  return spans.some((span) => span.parent_span_id === null && span.status !== 'running');
}

/** A header, completed from the spans if it is not declared or leaves fields open. */
function withSpans(header: TraceHeader, spans: readonly SpanRecord[]): TraceHeader {
  const given = headerOf(spans);
  const found = dimensionsOf(spans);
  if (header.follows_spans) return { ...header, ...given, ...found };
  if (header.status !== 'running') return header;
  return {
    ...header,
    environment: header.environment ?? found.environment,
    release: header.release ?? found.release,
    agent_version: header.agent_version ?? found.agent_version,
    repository: header.repository ?? found.repository,
    status: given.status,
    ended_at: header.ended_at ?? given.ended_at,
    error_message: header.error_message ?? given.error_message,
  };
}
