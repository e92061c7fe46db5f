import { setTimeout as wait } from 'node:timers/promises';
import { ConsumeError } from '../../../component/consume-error.js';
import { GEN_AI_EVENTS } from '../../../signal/logged-event.js';
import type { Micros } from '../../../signal/time.js';
import { encodeRows } from '../../../worker/columns-writer.js';
import type { TracesMessage } from '../../incoming/encode-traces.js';
import type {
  ExportedRow,
  ExportProgress,
  SourceFile,
  TelemetryBackup,
  TelemetryIn,
  TelemetryOut,
  TelemetryTransfer,
  TransferBase,
  TransferredLink,
  TransferredRuns,
  WrittenTables,
} from '../../contracts/transfer.js';
import { exportedScores } from '../../incoming/score-rows.js';
import { textsOfRow } from '../../shared/log-text.js';
import { LOG_MESSAGE, type LogsMessage } from '../write/encode-logs.js';
import { POINT_MESSAGE, STREAM_MESSAGE, type PointsMessage } from '../write/encode-points.js';
import { ORIGIN_MESSAGE } from '../write/origin-message.js';
import type { StoreHandle } from './store-handle.js';

/** Interval for checking whether all events are in the event log, and the time after which the export gives up. */
const ASK_AGAIN_MS = 20;
const PATIENCE_MS = 15_000;

/** The contract `TelemetryTransfer` for the daemon's thread. */
export class TransferClient implements TelemetryTransfer {
  readonly out: TelemetryOut;
  readonly in: TelemetryIn;
  readonly backup: TelemetryBackup;

  /** @param source returns the outbox source name of the store's events */
  constructor(handle: StoreHandle, source: () => string) {
    this.out = new OutClient(handle, source);
    this.in = new InClient(handle);
    this.backup = new BackupClient(handle, source);
  }
}

class OutClient implements TelemetryOut {
  readonly #handle: StoreHandle;
  readonly #source: () => string;

  constructor(handle: StoreHandle, source: () => string) {
    this.#handle = handle;
    this.#source = source;
  }

  async begin(): Promise<boolean> {
    const { thread, control } = this.#handle.opened;
    if (!(await thread.call<boolean>('beginExport', []))) return false;
    try {
      await untilEventsAreLogged(async () =>
        thread.call<boolean>('exportLacksFacts', [await control.events.markOf(this.#source())]),
      );
    } catch (error) {
      await this.end();
      throw error;
    }
    return true;
  }

  async write(directory: string, abort: AbortSignal, skipsDamaged: boolean): Promise<WrittenTables> {
    return await this.#handle.opened.thread.call('writeExport', [directory, skipsDamaged], { abort });
  }

  async progress(): Promise<ExportProgress> {
    return await this.#handle.opened.thread.call('exportProgress', []);
  }

  async end(): Promise<void> {
    await this.#handle.opened.thread.call('endExport', []);
  }
}

class BackupClient implements TelemetryBackup {
  readonly #handle: StoreHandle;
  readonly #source: () => string;

  constructor(handle: StoreHandle, source: () => string) {
    this.#handle = handle;
    this.#source = source;
  }

  async begin(): Promise<readonly SourceFile[] | null> {
    const { thread, control } = this.#handle.opened;
    const files = await thread.call<readonly SourceFile[] | null>('beginBackup', []);
    if (files === null) return null;
    try {
      await untilEventsAreLogged(async () =>
        thread.call<boolean>('backupLacksFacts', [await control.events.markOf(this.#source())]),
      );
    } catch (error) {
      await this.end();
      throw error;
    }
    return files;
  }

  async resume(): Promise<void> {
    await this.#handle.opened.thread.call('resumeBackup', []);
  }

  async release(): Promise<Readonly<Record<string, number>>> {
    return await this.#handle.opened.thread.call('releaseBackup', []);
  }

  async end(): Promise<void> {
    await this.#handle.opened.thread.call('endBackup', []);
  }

  async count(): Promise<Readonly<Record<string, number>>> {
    return await this.#handle.opened.thread.call('countBackup', []);
  }
}

/** Waits until all events are in the event log. @param isBehind whether some are missing @throws ConsumeError */
async function untilEventsAreLogged(isBehind: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (await isBehind()) {
    if (performance.now() > giveUpAt) throw eventsAreBehind();
    await wait(ASK_AGAIN_MS);
  }
}

class InClient implements TelemetryIn {
  readonly #handle: StoreHandle;

  constructor(handle: StoreHandle) {
    this.#handle = handle;
  }

  /** Takes no lock: only this process uses the files. */
  async begin(): Promise<boolean> {
    return true;
  }

  async end(): Promise<void> {
    // No lock is held.
  }

  async holds(): Promise<string | null> {
    const isEmpty = await this.#handle.call('isEmpty');
    return isEmpty ? null : 'telemetry (extensions.duckdb.path and the files next to it)';
  }

  async base(base: TransferBase): Promise<void> {
    await this.#handle.call('restoreBase', base);
  }

  async traces(tenant: number, runs: TransferredRuns): Promise<void> {
    await this.#call('writeTraces', [{ ...runs, tenant, wanted: [] } satisfies TracesMessage]);
  }

  async link(tenant: number, { promptNo, traceId, spanId, linkedAt }: TransferredLink): Promise<void> {
    const link = { promptNo, trace_id: traceId, span_id: spanId };
    await this.#handle.call('linkPrompt', tenant, link, linkedAt);
  }

  async points(tenant: number, rows: readonly ExportedRow[]): Promise<void> {
    const streams = new Shared();
    const origins = new Shared();
    const points = rows.map((row) => ({
      ...row,
      stream: streams.positionOf(String(row['metric']), () => ({
        name: row['metric'] ?? null,
        type: row['metric_type'] ?? null,
        unit: row['unit'] ?? null,
        description: row['description'] ?? null,
      })),
      origin: origins.positionOf(String(row['origin']), () => ({ origin: row['origin'] ?? null })),
    }));
    const message: PointsMessage = {
      tenant,
      points: encodeRows(POINT_MESSAGE, points),
      streams: encodeRows(STREAM_MESSAGE, streams.parts),
      origins: encodeRows(ORIGIN_MESSAGE, origins.parts),
    };
    const { refused } = await this.#call<{ readonly refused: readonly number[] }>('writePoints', [message]);
    if (refused.length > 0)
      throw new Error(`${refused.length} points were refused because their user has too many metrics`);
  }

  async logs(tenant: number, rows: readonly ExportedRow[]): Promise<void> {
    const origins = new Shared();
    const logs = rows.map((row) => ({
      ...row,
      ...textColumnsOf(row),
      origin: origins.positionOf(String(row['origin']), () => ({ origin: row['origin'] ?? null })),
    }));
    const message: LogsMessage = {
      tenant,
      logs: encodeRows(LOG_MESSAGE, logs),
      origins: encodeRows(ORIGIN_MESSAGE, origins.parts),
      events: rows.flatMap((row, i) => (isGenAiEvent(row) ? [i] : [])),
    };
    await this.#call('writeLogs', [message]);
  }

  async scores(tenant: number, rows: readonly ExportedRow[]): Promise<void> {
    await this.#handle.call('writeScores', tenant, exportedScores(rows));
  }

  async finish(at: Micros): Promise<string> {
    const wanted = new Map<number, readonly never[]>();
    // One call times out a limited number of runs.
    for (let before = -1, last = await this.#lastCommit(); last !== before;) {
      const { unknown } = await this.#handle.call('timeOutIdle', at, wanted);
      for (const tenant of unknown) wanted.set(tenant, []);
      if (unknown.length > 0) continue;
      [before, last] = [last, await this.#lastCommit()];
    }
    return String(await this.#lastCommit());
  }

  async #lastCommit(): Promise<number> {
    return await this.#call('lastCommit', []);
  }

  async #call<T>(method: string, args: readonly unknown[]): Promise<T> {
    return await this.#handle.opened.thread.call<T>(method, args);
  }
}

/** Values that several rows of a message share, each stored once. */
class Shared {
  readonly parts: ExportedRow[] = [];
  readonly #positions = new Map<string, number>();

  positionOf(key: string, part: () => ExportedRow): number {
    const known = this.#positions.get(key);
    if (known !== undefined) return known;
    const position = this.parts.push(part()) - 1;
    this.#positions.set(key, position);
    return position;
  }
}

function textColumnsOf(row: ExportedRow): ExportedRow {
  const { normal, other } = textsOfRow(row);
  return { normal, other_text: other };
}

function isGenAiEvent({ event_name: name, trace_id: trace, span_id: span }: ExportedRow): boolean {
  return trace !== null && span !== null && typeof name === 'string' && GEN_AI_EVENTS.has(name);
}

function eventsAreBehind(): ConsumeError {
  return new ConsumeError(
    'Some telemetry events are not yet in the control store, so the copy would lack them. Check /readyz and try again.',
    { code: 'storage_unavailable', retryable: true, retryAfterMs: 5000 },
  );
}
