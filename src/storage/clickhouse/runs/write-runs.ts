import { ConsumeError } from '../../../component/consume-error.js';
import { itemAt, invariant } from '../../../signal/checked.js';
import type {
  Charge,
  InternedAgents,
  OpenWrite,
  SettledItems,
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
import { settleRuns, type SettledRuns, type SettlementParts } from './settle-runs.js';
import type { WantedTrace } from './stored-facts.js';

/** Adds rows to tables. */
export interface Inserts {
  /**
   * Durable and readable when it resolves; some of them may be there twice, as any row of these tables may.
   *
   * @throws ConsumeError `storage_unavailable`, `overloaded`
   */
  insert(table: ClickHouseTable, rows: readonly BinaryRow[]): Promise<void>;
}

/** Told of runs that were settled, before those who wrote them are answered. */
type OnSettled = (settled: SettledRuns) => Promise<void>;

export interface WritePartsOfRuns {
  readonly reads: Reads;
  readonly inserts: Inserts;
  readonly book: WriteIntentLog;
  readonly agents: Pick<InternedAgents, 'number'>;
  /** The identity of the store. */
  readonly store: string;
  /** This process, unlike any other that is or was. */
  readonly owner: string;
  /** How long a write is this process's without news, in milliseconds. */
  readonly leaseMs: number;
  /** Names of agents of a user. */
  readonly mostAgents: number;
  readonly onSettled: OnSettled;
}

/** Of a change that may pass its limit: how many of its items are new has to be counted. */
export class Uncounted {
  /** What was settled of its month. */
  readonly settled: number;

  constructor(settled: number) {
    this.settled = settled;
  }
}

/** What became of a change of a group. */
export type GroupAnswer = ChangeAnswer | ConsumeError | Uncounted;

/** A change of a group that may be written, with what it brings. */
interface Written {
  readonly change: RunChange;
  readonly sent: readonly SentTrace[];
}

/**
 * Writes groups of changes, each in the steps that `README.md` gives: noted in the book, spans, messages, a ticket, what follows from them,
 * the end. Whatever fails in between, what was stored is settled by whoever takes the write over.
 */
export class RunWrites {
  readonly #parts: WritePartsOfRuns;
  readonly #settlement: SettlementParts;
  /** Writes are noted in the order in which they are asked for. */
  #begun: Promise<unknown> = Promise.resolve();

  constructor(parts: WritePartsOfRuns) {
    this.#parts = parts;
    this.#settlement = parts;
  }

  /** @returns what became of each change, in their order @throws ConsumeError where it is not known, or nothing was stored */
  async write(changes: readonly RunChange[]): Promise<readonly GroupAnswer[]> {
    const counted = changes.filter(isCounted);
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
    const settled = await this.#writeAll(write, written, places);
    const used = await this.#finish(write, taken, written, settled);
    const outcomes = outcomesOf(settled);
    return changes.map((change) => {
      const refusal = refusals.get(change);
      if (refusal !== undefined) return refusal;
      if (change.kind !== 'batch')
        return { outcome: outcomes.get(traceKey(change.tenant, change.traceId)) ?? null };
      const at = taken.indexOf(change as CountedChange);
      const { counted: terms } = change.batch;
      const usage = at < 0 || terms === null ? null : usageOf(terms, itemAt(used, at));
      return { outcome: null, ...(usage && { usage }) };
    });
  }

  /** Finishes a write that its process left. */
  async finishTaken({ write, traces, charges }: TakenWrite): Promise<void> {
    const settled = await this.#settle(write, traces, new Map());
    const items: SettledItems[] = [];
    const left = new Map<number, number>();
    for (const { settled: run } of settled.runs) {
      for (const { order } of run.facts.messages) {
        const { tenant } = run.facts;
        left.set(tenant, (left.get(tenant) ?? 0) + (settled.items.get(messageKey(run.facts, order)) ?? 0));
      }
    }
    for (const { tenant, at, items: most } of charges) {
      const count = Math.min(most, left.get(tenant) ?? 0);
      left.set(tenant, (left.get(tenant) ?? 0) - count);
      items.push({ tenant, at, items: count });
    }
    await this.#parts.book.finish(write, items);
  }

  async #begin(changes: readonly RunChange[], counted: readonly CountedChange[]) {
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
  ): Promise<SettledRuns> {
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
    return await this.#settle(write, [...touched.values()], byTrace(sent));
  }

  async #settle(
    write: OpenWrite,
    traces: readonly WantedTrace[],
    own: ReadonlyMap<string, readonly SentTrace[]>,
  ): Promise<SettledRuns> {
    const { book, store } = this.#parts;
    const ticket = await book.ticket(write);
    if (ticket === null) throw takenOver();
    const firstTicket = (await this.#firstTicket(store, write, own)) ?? ticket;
    const of = { number: write.number, ticket, firstTicket };
    const settled = await settleRuns(this.#settlement, of, traces, own);
    await this.#insert(SPANS, settled.spanRows);
    await this.#insert(RUNS, settled.runRows);
    await this.#parts.onSettled(settled);
    return settled;
  }

  /** Of a write that this process has begun its ticket is the first. */
  async #firstTicket(
    store: string,
    { number }: OpenWrite,
    own: ReadonlyMap<string, readonly SentTrace[]>,
  ): Promise<number | null> {
    if (own.size > 0) return null;
    return (await this.#parts.book.firstTickets(store, [number])).get(number) ?? null;
  }

  /** @returns what is settled since of the months of the counted changes */
  async #finish(
    write: OpenWrite,
    counted: readonly CountedChange[],
    written: readonly Written[],
    { items }: SettledRuns,
  ): Promise<readonly number[]> {
    const settled = counted.map((change) => {
      const sent = written.find((one) => one.change === change)?.sent ?? [];
      const count = sent.reduce((sum, one) => sum + (items.get(messageKey(one, one.order)) ?? 0), 0);
      const { tenant, at } = change.batch.counted;
      return { tenant, at, items: count };
    });
    const used = await this.#parts.book.finish(write, settled);
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
type CountedChange = BatchChange & {
  readonly batch: { readonly counted: NonNullable<BatchChange['batch']['counted']> };
};

function isCounted(change: RunChange): change is CountedChange {
  return change.kind === 'batch' && change.batch.counted !== null;
}

function chargeOf(change: CountedChange): Charge {
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
  if (message.kind === 'settle') return [];
  return [otherMessage({ tenant, traceId, order: places.next(tenant, traceId) }, at, message)];
}

function outcomesOf({ runs }: SettledRuns) {
  return new Map(
    runs.map(({ settled: { facts, run } }) => [
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
