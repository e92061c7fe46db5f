import type { EventType } from '../../../signal/event.js';
import type { Micros } from '../../../signal/time.js';
import { EVENTS } from '../../schema/events-table.js';
import { agentCreated, eventOf, runEnded, type RunEvent } from '../../shared/run-events.js';
import { isKnown, type Agents } from '../stats/agents.js';
import { headerAt, statusAt } from '../../incoming/incoming-rows.js';
import { runSummary } from './run-summary.js';
import type { HeaderRow } from '../../../runs/rules/rows.js';
import type { TraceState } from './trace-state.js';
import { isOfBatch, type TouchedTrace } from './classify.js';
import type { IncomingBatch } from '../../incoming/incoming-batch.js';
import { objectRows, type Rows } from './rows.js';
import type { TraceChange } from './change.js';
import type { TelemetryEvent } from './stored-events.js';
import { END_TYPES } from '../../contracts/events.js';

/** A run that ended in the commit. */
interface EndedRun {
  readonly type: EventType;
  readonly header: HeaderRow;
  readonly agentNo: number;
  readonly spanCount: number;
  readonly tenant: number;
  /** The batch that ended it, and its position in that batch; null if it was idle for too long. */
  readonly by: { readonly batch: IncomingBatch; readonly trace: number } | null;
  /** When its last new data was received. */
  readonly timestamp: Micros;
}

/** A fact and its tenant. */
interface Fact extends RunEvent {
  readonly tenant: number;
}

/**
 * The events of one group commit that users subscribed to, as listed in the batches. Costs next to nothing if there are no
 * subscriptions.
 */
export class CommitEvents {
  readonly #agents: Agents;
  readonly #ended: EndedRun[] = [];

  constructor(agents: Agents) {
    this.#agents = agents;
  }

  /** Adds completely new traces of a batch. @param agentNos by their position */
  addWhole(batch: IncomingBatch, agentNos: ReadonlyMap<number, number>): void {
    const { wanted } = batch;
    if (wanted.length === 0) return;
    for (const [trace, agentNo] of agentNos) {
      const type = END_TYPES[statusAt(batch, trace)] ?? null;
      if (type === null || !wanted.includes(type)) continue;
      const { header } = headerAt(batch, trace);
      const spanCount = batch.end(trace) - batch.start(trace);
      const { tenant, receivedAt: timestamp } = batch;
      this.#ended.push({ type, header, agentNo, spanCount, tenant, by: { batch, trace }, timestamp });
    }
  }

  /** Adds a touched trace that ended in this commit. */
  addTouched({ tenant, parts }: TouchedTrace, state: TraceState, agentNo: number): void {
    const { header, spans, lastSeenAt: timestamp } = state;
    const type = END_TYPES[header.status] ?? null;
    if (type === null) return;
    const by = parts.findLast(isOfBatch) ?? null;
    const wanting = by?.batch ?? parts.find(({ kind }) => kind === 'timeout');
    if (wanting === undefined || !('wanted' in wanting) || !wanting.wanted.includes(type)) return;
    this.#ended.push({ type, header, agentNo, spanCount: spans.size, tenant, by, timestamp });
  }

  /** All events: first those of new agents, then those of runs, in the order of the batches. */
  all(seq: number, changes: readonly TraceChange[]): readonly TelemetryEvent[] {
    const facts = [...this.#newAgents(changes), ...this.#endedRuns(changes)];
    return facts.map(({ tenant, ...fact }, place) => {
      const event = eventOf(fact, place);
      return { tenant, commit: seq, place, bytes: Buffer.byteLength(event.body), event };
    });
  }

  #newAgents(changes: readonly TraceChange[]): Fact[] {
    const facts: Fact[] = [];
    if (this.#agents.added.length === 0) return facts;
    const bringing = changes.flatMap((change) => {
      if (change.kind === 'timeout') return change;
      return change.kind === 'batch' || change.kind === 'ahead' ? change.batch : [];
    });
    const wanting = new Set(
      bringing.filter(({ wanted }) => wanted.includes('agent.created')).map(({ tenant }) => tenant),
    );
    for (const agent of this.#agents.added) {
      if (!isKnown(agent)) continue;
      const { tenant } = agent;
      if (wanting.has(tenant)) facts.push({ tenant, ...agentCreated(agent) });
    }
    return facts;
  }

  #endedRuns(changes: readonly TraceChange[]): Fact[] {
    if (this.#ended.length === 0) return [];
    const batches = changes.flatMap((change) => (change.kind === 'batch' ? change.batch : []));
    const order = new Map(batches.map((batch, i) => [batch, i]));
    const at = ({ by }: EndedRun): number => (by && order.get(by.batch)) ?? 0;
    this.#ended.sort((a, b) => at(a) - at(b) || (a.by?.trace ?? 0) - (b.by?.trace ?? 0));
    return this.#ended.map(({ tenant, type, timestamp, header, agentNo, spanCount }) => {
      const run = runSummary({ ...header, agent_no: agentNo, span_count: spanCount }, this.#agents);
      return { tenant, ...runEnded(type, timestamp, run) };
    });
  }
}

/** The rows as they are stored. */
export function eventRows(events: readonly TelemetryEvent[]): Rows[] {
  return objectRows(
    EVENTS,
    events.map(({ tenant, commit, place, bytes, event: { id, type, timestamp, body } }) => ({
      seq: commit,
      tenant,
      place,
      id,
      type,
      timestamp,
      body,
      bytes,
    })),
  );
}
