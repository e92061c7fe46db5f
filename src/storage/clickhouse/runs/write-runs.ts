import { ConsumeError } from '../../../component/consume-error.js';
import { itemAt, invariant } from '../../../signal/checked.js';
import type {
  Charge,
  InternedAgents,
  OpenWrite,
  AppliedItems,
  TakenWrite,
  WriteIntentLog,
} from '../../contracts/coordination.js';
import type { Reads } from '../client/reads.js';
import type { BinaryRow } from '../client/row-binary.js';
import {
  itemsOf,
  tracesOf,
  type BatchChange,
  type ChangeAnswer,
  type MessageChange,
  type RunChange,
} from './run-change.js';
import { refusalOf, usageOf } from './quota-answers.js';
import { headerMessage, otherMessage, spanRows } from './run-rows.js';
import { MESSAGES, RUNS, SPANS } from '../tables/run-tables.js';
import type { ClickHouseTable } from '../tables/table.js';
import { byTrace, messageKey, MessagePlaces, sentTraces, traceKey, type SentTrace } from './sent-traces.js';
import { applyRuns, type AppliedRuns, type ApplyParts } from './apply-runs.js';
import type { WantedTrace } from './stored-facts.js';

/** Adds rows to tables. */
export interface Inserts {
  /**
   * Rows are durable and readable when it resolves. Rows of these tables may be duplicated.
   *
   * @throws ConsumeError `storage_unavailable`, `overloaded`
   */
  insert(table: ClickHouseTable, rows: readonly BinaryRow[]): Promise<void>;
}

/** Called with applied runs before their writes are acknowledged. */
type OnApplied = (applied: AppliedRuns) => Promise<void>;

export interface WritePartsOfRuns {
  readonly reads: Reads;
  readonly inserts: Inserts;
  readonly book: WriteIntentLog;
  readonly agents: Pick<InternedAgents, 'number'>;
  /** The identity of the store. */
  readonly store: string;
  /** A unique name of this process, never reused. */
  readonly owner: string;
  /** Lease of a write, in milliseconds. */
  readonly leaseMs: number;
  /** Maximum of agent names per user. */
  readonly mostAgents: number;
  readonly onApplied: OnApplied;
}

/** The change may pass its limit, so its new items must be counted. */
export class Uncounted {
  /** Applied usage of its month. */
  readonly applied: number;

  constructor(applied: number) {
    this.applied = applied;
  }
}

/** The result of a change in a group. */
export type GroupAnswer = ChangeAnswer | ConsumeError | Uncounted;

/** An admitted change of a group, with its traces. */
interface Written {
  readonly change: RunChange;
  readonly sent: readonly SentTrace[];
}

/**
 * Writes groups of changes in the steps of `README.md`: write intent, spans, messages, fence, derived rows, end. After a failure in
 * between, the process that takes over the write applies the stored rows.
 */
export class RunWrites {
  readonly #parts: WritePartsOfRuns;
  readonly #applyParts: ApplyParts;
  /** Write intents are recorded in call order. */
  #begun: Promise<unknown> = Promise.resolve();

  constructor(parts: WritePartsOfRuns) {
    this.#parts = parts;
    this.#applyParts = parts;
  }

  /** @returns the result of each change, in order @throws ConsumeError if the results are unknown or nothing was stored */
  async write(changes: readonly RunChange[]): Promise<readonly GroupAnswer[]> {
    const counted = changes.filter(isCharged);
    const beginning = this.#begun.then(() => this.#begin(changes, counted));
    this.#begun = beginning.catch(() => undefined);
    const { write, charged } = await beginning;
    const refusals = new Map<RunChange, ConsumeError | Uncounted>();
    counted.forEach((change, i) => {
      const answer = itemAt(charged, i);
      const items = change.exactItems ?? itemsOf(change);
      const refusal =
        answer.as === 'inexact' ? new Uncounted(answer.used) : refusalOf(change.batch.counted, items, answer);
      if (refusal !== null) refusals.set(change, refusal);
    });
    if (write === null)
      return changes.map((change) => invariant(refusals.get(change), 'refusal of a change'));
    const places = new MessagePlaces(write.number);
    const written = changes
      .filter((change) => !refusals.has(change))
      .map((change): Written => ({
        change,
        sent: change.kind === 'batch' ? sentTraces(change.batch, places) : [],
      }));
    const taken = counted.filter((change) => !refusals.has(change));
    const applied = await this.#writeAll(write, written, places);
    const used = await this.#finish(write, taken, written, applied);
    const outcomes = outcomesOf(applied);
    return changes.map((change) => {
      const refusal = refusals.get(change);
      if (refusal !== undefined) return refusal;
      if (change.kind !== 'batch')
        return { outcome: outcomes.get(traceKey(change.tenant, change.traceId)) ?? null };
      const at = taken.indexOf(change as ChargedChange);
      const { counted: limits } = change.batch;
      const usage = at < 0 || limits === null ? null : usageOf(limits, itemAt(used, at));
      return { outcome: null, ...(usage && { usage }) };
    });
  }

  /** Finishes the write of a dead process. */
  async finishTaken({ write, traces, charges }: TakenWrite): Promise<void> {
    const applied = await this.#apply(write, traces, new Map());
    const items: AppliedItems[] = [];
    const left = new Map<number, number>();
    for (const { derived: run } of applied.runs) {
      for (const { order } of run.facts.messages) {
        const { tenant } = run.facts;
        left.set(tenant, (left.get(tenant) ?? 0) + (applied.items.get(messageKey(run.facts, order)) ?? 0));
      }
    }
    for (const { tenant, at, items: most } of charges) {
      const count = Math.min(most, left.get(tenant) ?? 0);
      left.set(tenant, (left.get(tenant) ?? 0) - count);
      items.push({ tenant, at, items: count });
    }
    await this.#parts.book.finish(write, items);
  }

  async #begin(changes: readonly RunChange[], counted: readonly ChargedChange[]) {
    const { book, store, owner, leaseMs } = this.#parts;
    const traces = new Map(
      changes.flatMap(tracesOf).map((trace) => [traceKey(trace.tenant, trace.traceId), trace]),
    );
    return await book.begin({
      store,
      owner,
      leaseMs,
      traces: [...traces.values()],
      charges: counted.map(chargeOf),
    });
  }

  async #writeAll(
    write: OpenWrite,
    written: readonly Written[],
    places: MessagePlaces,
  ): Promise<AppliedRuns> {
    const sent = written.flatMap((one) => one.sent);
    const others = written.flatMap(({ change }) => (change.kind === 'batch' ? [] : [change]));
    await this.#insert(SPANS, sent.flatMap(spanRows));
    await this.#hold(write);
    const messages = [...sent.map(headerMessage), ...others.flatMap((change) => messageRow(change, places))];
    await this.#insert(MESSAGES, messages);
    const touched = new Map(
      written
        .flatMap(({ change }) => tracesOf(change))
        .map((trace) => [traceKey(trace.tenant, trace.traceId), trace]),
    );
    return await this.#apply(write, [...touched.values()], byTrace(sent));
  }

  async #apply(
    write: OpenWrite,
    traces: readonly WantedTrace[],
    own: ReadonlyMap<string, readonly SentTrace[]>,
  ): Promise<AppliedRuns> {
    const { book, store } = this.#parts;
    const fence = await book.fence(write);
    if (fence === null) throw takenOver();
    const firstFence = (await this.#firstFence(store, write, own)) ?? fence;
    const of = { number: write.number, fence, firstFence };
    const applied = await applyRuns(this.#applyParts, of, traces, own);
    await this.#insert(SPANS, applied.spanRows);
    await this.#insert(RUNS, applied.runRows);
    await this.#parts.onApplied(applied);
    return applied;
  }

  /** Null if this process began the write: then its fence is the first. */
  async #firstFence(
    store: string,
    { number }: OpenWrite,
    own: ReadonlyMap<string, readonly SentTrace[]>,
  ): Promise<number | null> {
    if (own.size > 0) return null;
    return (await this.#parts.book.firstFences(store, [number])).get(number) ?? null;
  }

  /** @returns the applied usage of each counted change's month */
  async #finish(
    write: OpenWrite,
    counted: readonly ChargedChange[],
    written: readonly Written[],
    { items }: AppliedRuns,
  ): Promise<readonly number[]> {
    const applied = counted.map((change) => {
      const sent = written.find((one) => one.change === change)?.sent ?? [];
      const count = sent.reduce((sum, one) => sum + (items.get(messageKey(one, one.order)) ?? 0), 0);
      const { tenant, at } = change.batch.counted;
      return { tenant, at, items: count };
    });
    const used = await this.#parts.book.finish(write, applied);
    if (used === null) throw takenOver();
    return used;
  }

  async #hold(write: OpenWrite): Promise<void> {
    if (!(await this.#parts.book.renew(write, this.#parts.leaseMs))) throw takenOver();
  }

  async #insert(table: ClickHouseTable, rows: readonly BinaryRow[]): Promise<void> {
    if (rows.length > 0) await this.#parts.inserts.insert(table, rows);
  }
}

/** A batch that counts for a quota. */
type ChargedChange = BatchChange & {
  readonly batch: { readonly counted: NonNullable<BatchChange['batch']['counted']> };
};

function isCharged(change: RunChange): change is ChargedChange {
  return change.kind === 'batch' && change.batch.counted !== null;
}

function chargeOf(change: ChargedChange): Charge {
  const { tenant, at, limit } = change.batch.counted;
  const items = change.exactItems ?? itemsOf(change);
  return {
    tenant,
    at,
    items,
    isExact: change.exactItems !== undefined,
    limit: limit === Infinity ? null : limit,
  };
}

function messageRow(change: MessageChange, places: MessagePlaces): BinaryRow[] {
  const { tenant, traceId, at, message } = change;
  if (message.kind === 'recompute') return [];
  return [otherMessage({ tenant, traceId, order: places.next(tenant, traceId) }, at, message)];
}

function outcomesOf({ runs }: AppliedRuns) {
  return new Map(
    runs.map(({ derived: { facts, run } }) => [
      traceKey(facts.tenant, facts.traceId),
      { success: run.header.success ?? false, outcome: run.header.outcome },
    ]),
  );
}

function takenOver(): ConsumeError {
  return new ConsumeError('The lease of the write expired; another process is completing it.', {
    code: 'storage_unavailable',
    retryable: true,
  });
}
