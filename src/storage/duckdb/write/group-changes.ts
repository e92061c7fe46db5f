import { completingSpans } from '../../../runs/completing-spans.js';
import type { StoredRuns } from '../../../runs/stored-runs.js';
import { CommitRanges } from '../segments/commit-ranges.js';
import type { LoadedGroup } from './completed-spans.js';
import { followsSpans, type NamedHeader } from '../../../runs/rules/following-header.js';
import { NO_PAYLOAD } from '../../../runs/rules/payload.js';
import { headerAt, newSpansAt, payloadAt } from '../../incoming/incoming-rows.js';
import { NO_NODE } from '../../../signal/service-map.js';
import { nodeOfStored } from './node-of-stored.js';
import type { Services } from './services.js';
import type { PromptLinks } from './prompt-links.js';
import type { RunSize } from './run-size.js';
import { PART_BYTES } from '../segments/read-limits.js';
import type { SpanRow, HeaderRow } from '../../../runs/rules/rows.js';
import { TraceState } from './trace-state.js';
import type { AheadPart, BatchPart } from './classify.js';
import type { IncomingBatch } from '../../incoming/incoming-batch.js';
import type { OutcomeChange } from './change.js';

/** Number of new items of each batch of a group: spans, and traces without spans. */
export class ItemsOfGroup {
  readonly byBatch = new Map<IncomingBatch, number>();

  add(batch: IncomingBatch, more: number): void {
    if (more > 0) this.byBatch.set(batch, (this.byBatch.get(batch) ?? 0) + more);
  }
}

/** The group while it is applied. */
export interface TouchedGroup extends LoadedGroup {
  /** New traces are added. */
  readonly states: Map<string, TraceState>;
  readonly items: ItemsOfGroup;
}

/** Spans of a trace read with their payloads at a time; payloads are also limited to {@link PART_BYTES}. */
const REMAPPED = 1000;

/**
 * Applies the changes of a group to the states of the touched traces, in order. `CompletedSpans` has already read the stored spans
 * that a batch completes.
 */
export class GroupChanges {
  readonly #services: Services;
  readonly #links: PromptLinks;
  readonly #size: RunSize;

  constructor(services: Services, links: PromptLinks, size: RunSize) {
    this.#size = size;
    this.#services = services;
    this.#links = links;
  }

  /** @returns the header after each outcome change; null for a trace that is not stored */
  async apply(
    group: TouchedGroup,
    stored: StoredRuns<TraceState>,
  ): Promise<Map<OutcomeChange, HeaderRow | null>> {
    const outcomes = new Map<OutcomeChange, HeaderRow | null>();
    for (const [key, { parts }] of group.touched) {
      for (const part of parts) {
        const state = group.states.get(key);
        switch (part.kind) {
          case 'batch':
            this.#applyTrace(key, part, group);
            break;
          case 'ahead':
            if (state !== undefined) this.#applyAhead(key, state, part);
            break;
          case 'outcome':
            state?.setOutcome(part.success, part.outcome);
            outcomes.set(part, state?.header ?? null);
            break;
          case 'timeout':
            if (state?.stored?.seq === part.seq) state.timeOut();
            break;
          case 'remap':
            if (state !== undefined) await this.#remap(state, part.tenant, stored);
            break;
          case 'link':
            this.#links.link(key, part);
            break;
          case 'truncate':
          case 'judge':
            // Applied by `truncateIfAsked`, and after all changes.
            break;
        }
      }
    }
    return outcomes;
  }

  #applyTrace(key: string, part: BatchPart, { fresh, states, items }: TouchedGroup): void {
    const { batch, trace } = part;
    const named = headerAt(batch, trace);
    const isFresh = fresh.get(batch)?.has(trace) === true;
    // Numbers are assigned only to names that are written.
    const nodeAt = (row: number): number => (isFresh ? batch.nodeAt(row) : NO_NODE);
    const spans = isFresh || followsSpans(named.header) ? newSpansAt(batch, trace, nodeAt) : [];
    const known = states.get(key);
    const state = known ?? newState(batch, named, this.#size);
    if (known === undefined) states.set(key, state);
    else {
      state.applyHeader(named, spans, batch.receivedAt);
      if (batch.map !== null) state.setMapped();
    }
    const before = state.spans.size;
    if (isFresh) {
      for (const span of spans) state.addSpan(span);
      this.#links.linkSpans(key, batch, trace);
    } else {
      for (let at = batch.start(trace); at < batch.end(trace); at++)
        this.#applySpan(key, state, part, at, batch.span(at));
    }
    // A new trace without spans counts as one item.
    items.add(batch, known === undefined ? Math.max(1, state.spans.size) : state.spans.size - before);
  }

  /** Applies the spans of the batch that complete stored ones; its header and new spans are applied with the batch itself. */
  #applyAhead(key: string, state: TraceState, part: AheadPart): void {
    const { batch, trace, end } = part;
    state.seen(batch.receivedAt);
    if (batch.map !== null) state.setMapped();
    for (const { at, row } of completingSpans(state, batch, batch.start(trace), end))
      this.#applySpan(key, state, part, at, row);
  }

  #applySpan(key: string, state: TraceState, { batch, trace }: BatchPart, at: number, row: SpanRow): void {
    const isNews = state.applySpan(row, payloadAt(batch, at, batch.start(trace)), {
      incoming: () => batch.nodeAt(at),
      completed: (merged, payload) => nodeOfStored(this.#services, batch.tenant, merged, payload),
    });
    if (isNews) this.#links.linkSpan(key, batch, trace, at);
  }

  /** Rebuilds the nodes of a stored trace from its stored spans. */
  async #remap(state: TraceState, tenant: number, stored: StoredRuns<TraceState>): Promise<void> {
    const keys = [...state.spans.keys()];
    let first = 0;
    while (first < keys.length) {
      const page = keys.slice(first, first + REMAPPED);
      const held = new Set(page.filter((key) => state.find(key)?.row !== undefined));
      const { keys: read } = await stored.readWhole(tenant, state, page, PART_BYTES);
      for (const span of page.slice(0, read).flatMap((key) => state.find(key) ?? [])) {
        if (span.row === undefined) continue;
        const node = nodeOfStored(this.#services, tenant, span.row, span.payload ?? NO_PAYLOAD);
        if (node !== span.node) state.setNode(span, node);
        // An unchanged span is not written. Later batches of the group may complete one that was read before.
        if (span.changed || held.has(span.span_id)) continue;
        span.row = undefined;
        span.payload = undefined;
      }
      first += read;
    }
    state.setMapped();
  }
}

/** The state of a trace that is not stored yet, before its spans are added. */
function newState(batch: IncomingBatch, named: NamedHeader, size: RunSize): TraceState {
  const place = {
    lastSeenAt: batch.receivedAt,
    stored: null,
    commits: CommitRanges.NONE,
    isMapped: batch.map !== null,
    hasEnded: false,
  };
  return new TraceState(named, place, size);
}
