import { join } from 'node:path';
import type { Test } from 'tap';
import { ALL_EVENTS, type EventType } from '../../../src/signal/event.js';
import type { Micros } from '../../../src/signal/time.js';
import type { TraceRecord } from '../../../src/signal/trace.js';
import { serializeRun, type SerializedRun } from '../../../src/storage/shared/serialize-run.js';
import { AGENTS } from '../../../src/storage/schema/tables.js';
import type { ReadContext } from '../../../src/storage/duckdb/segments/read-context.js';
import type { Read } from '../../../src/storage/duckdb/segments/read.js';
import { openParts, type EngineParts } from '../../../src/storage/duckdb/thread/engine-parts.js';
import type { StoreOptions } from '../../../src/storage/duckdb/thread/store-options.js';
import { TELEMETRY_EVENTS } from '../../../src/storage/contracts/events.js';
import { readStoredEvents, type TelemetryEvent } from '../../../src/storage/duckdb/write/stored-events.js';
import { relation } from '../../../src/storage/duckdb/segments/relation.js';
import { TraceId } from '../../../src/storage/duckdb/segments/trace-id.js';
import { IncomingBatch } from '../../../src/storage/incoming/incoming-batch.js';
import type { Append } from '../../../src/storage/duckdb/write/change.js';
import type { CommitReport } from '../../../src/storage/duckdb/write/writer.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { STORE_OPTIONS } from './test-store.js';
import { tracesMessage } from './traces-message.js';
import { testFolder } from '../../support/test-folder.js';

/** A user by number with its wanted event types. */
export interface Listener {
  readonly tenant: number;
  wanted: readonly EventType[];
}

/** An agent as its event shows it. */
export interface ShownAgent {
  readonly tenant: number;
  readonly id: string;
  readonly name: string;
  readonly created_at: Micros;
}

/** Cursor before the first event. */
export const START = { commit: 0, place: -1 } as const;
/** An append that fails the commit of its group. */
export const BAD: Append = {
  bytes: 0,
  weight: 1,
  counted: null,
  items: 0,
  rows: () => {
    throw new Error('no rows');
  },
  committed: () => undefined,
  buffers: [],
  rolledBack: () => undefined,
};

/** Identity of an unused control store. */
const CONTROL = '00000000-0000-7000-8000-000000000001';
const BIG_PAGE = { events: 100_000, bytes: 1e9 };

/**
 * The internals of a store in this thread with real files: changes started in one step form one commit.
 * Closed when the test ends.
 */
export class EventEngine {
  readonly path: string;
  readonly logger = new RecordingLogger();
  /** Reports of all commits since the store was opened. */
  readonly reports: CommitReport[] = [];
  readonly #options: Partial<StoreOptions>;
  #users = 0;
  readonly #listeners: Listener[] = [];
  #parts: EngineParts | null = null;

  private constructor(path: string, options: Partial<StoreOptions>) {
    this.path = path;
    this.#options = options;
  }

  static async open(
    t: Pick<Test, 'testdir' | 'teardown'>,
    options: Partial<StoreOptions> = {},
  ): Promise<EventEngine> {
    let close = async (): Promise<void> => undefined;
    // Registered before the folder is created, because teardowns run in reverse order.
    t.teardown(() => close());
    const opened = new EventEngine(options.path ?? join(testFolder(t), 'jackdaw.duckdb'), options);
    close = () => opened.close();
    await opened.start();
    return opened;
  }

  get parts(): EngineParts {
    if (this.#parts === null) throw new Error('the store of this test is closed');
    return this.#parts;
  }

  async start(): Promise<void> {
    this.#parts = await openParts(
      { ...STORE_OPTIONS, control: CONTROL, path: this.path, ...this.#options },
      this.logger,
      {
        committed: (report) => this.reports.push(report),
        died: () => undefined,
        troubled: () => undefined,
      },
    );
  }

  async close(): Promise<void> {
    const parts = this.#parts;
    this.#parts = null;
    if (parts === null) return;
    const indexes = [parts.traces, parts.truncatedSpans, parts.prompts.linked];
    for (const index of indexes) index.stop();
    await parts.housekeeping.close();
    await parts.writer.drained();
    await parts.compactor.close();
    await parts.pools.users.close();
    await parts.pools.own.close();
    for (const index of indexes) await index.close();
    await parts.main.clockNotes.idle();
    await parts.segments.close();
    parts.database.close();
  }

  async reopen(): Promise<void> {
    await this.close();
    await this.start();
  }

  /** @param wanted event types; null: none */
  async addUser(wanted: readonly string[] | null): Promise<Listener> {
    const user: Listener = { tenant: ++this.#users, wanted: [] };
    this.#listeners.push(user);
    await this.setWanted(user, wanted);
    return user;
  }

  /** Times out idle runs, as the store does every few seconds. */
  async timeOutIdle(now: number): Promise<void> {
    const wanted = new Map(this.#listeners.map((user) => [user.tenant, user.wanted]));
    await this.parts.housekeeping.timeOutIdle(now, wanted);
  }

  /** @param wanted event types; null: none */
  async setWanted(user: Listener, wanted: readonly string[] | null): Promise<void> {
    user.wanted = TELEMETRY_EVENTS.filter(
      (type) => wanted?.some((one) => one === ALL_EVENTS || one === type) === true,
    );
  }

  /** Resolves after the commit; writes started in one step share a commit. @param limit of the quota, if any */
  async write(
    { tenant, wanted }: Listener,
    items: readonly TraceRecord[],
    receivedAt: Micros,
    limit?: number,
  ): Promise<void> {
    const message = tracesMessage(tenant, { items: [...items] }, receivedAt, {
      wanted,
      ...(limit !== undefined && { counted: { tenant, at: receivedAt, limit } }),
    });
    await this.parts.writer.write({ kind: 'batch', batch: new IncomingBatch(message) });
  }

  async setOutcome({ tenant }: Listener, traceId: string, success: boolean, outcome: string): Promise<void> {
    const { words } = new TraceId(traceId);
    await this.parts.writer.write({ kind: 'outcome', tenant, words, success, outcome });
  }

  /** Compacts everything into the cold file. */
  async settle(): Promise<void> {
    const { writer, segments, compactor } = this.parts;
    await writer.drained();
    // Until the next segment is prepared, the current one keeps growing.
    await segments.prepared();
    await writer.seal();
    await compactor.settled();
  }

  /** All events after a cursor, read in pages. */
  async events(
    from: { readonly commit: number; readonly place: number } = START,
    page = BIG_PAGE,
  ): Promise<TelemetryEvent[]> {
    const found: TelemetryEvent[] = [];
    for (let after = from; ;) {
      const { events, hasMore } = await this.read((connection, capture) =>
        readStoredEvents(connection, capture, after, page),
      );
      found.push(...events);
      after = events.at(-1) ?? after;
      if (!hasMore) return found;
    }
  }

  /** The `data` of an event about the current run. */
  async shownRun(
    { tenant }: Listener,
    traceId: string,
  ): Promise<SerializedRun & { readonly agent_id: string; readonly span_count: number }> {
    const found = await this.parts.runs.read(this.asking(tenant), traceId);
    if (found === null) throw new Error('the run is not there');
    const { trace } = found.value;
    return { agent_id: trace.agent_id, ...serializeRun(trace) };
  }

  /** A read context of a user. @param read defaults to a read of the store */
  asking(tenant: number, read: Read = this.read): ReadContext {
    return { tenant, short: read, long: read };
  }

  /** Reads from the tables. */
  get read(): Read {
    return this.parts.reads.forWork('events');
  }

  /** All agents that were created. */
  async agents(): Promise<ShownAgent[]> {
    const rows = await this.read((connection, capture) =>
      connection.rows(
        `SELECT tenant, id::VARCHAR AS id, name, epoch_us(created_at) AS created_at FROM ${relation(capture, AGENTS, 'created_at IS NOT NULL')} ORDER BY id`,
      ),
    );
    return rows.map((row) => ({
      tenant: Number(row.tenant),
      id: String(row.id),
      name: String(row.name),
      created_at: Number(row.created_at),
    }));
  }
}

/** The data that the receiver of an event parses. */
export function dataOf({ event }: TelemetryEvent): Record<string, unknown> {
  const { data } = JSON.parse(event.body) as { data: Record<string, unknown> };
  return data;
}

/** An event as text: its type and its trace or agent. */
export function describeEvent(event: TelemetryEvent): string {
  const { trace_id, name } = dataOf(event);
  return `${event.event.type} ${String(trace_id ?? name)}`;
}
