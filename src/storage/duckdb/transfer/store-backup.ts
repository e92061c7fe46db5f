import { existsSync } from 'node:fs';
import { ConsumeError } from '../../../component/consume-error.js';
import { closing } from '../../contracts/errors.js';
import type { SourceFile } from '../../contracts/transfer.js';
import { SEGMENT_TABLES } from '../../schema/tables.js';
import type { ClockNotes } from '../files/clock-notes.js';
import type { Connection } from '../files/connection.js';
import { bytesOf, SegmentFiles } from '../files/segment-files.js';
import type { Compactor } from '../maintenance/compactor.js';
import type { Reads } from '../segments/read.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import type { Segments } from '../segments/segments.js';
import type { EventReads } from '../write/event-reads.js';
import { factsStore } from '../write/facts.js';
import type { Writer } from '../write/writer.js';

/** Commits continue after this long, even if the backup is not ready: it then fails. */
const MOST_PAUSE_MS = 30_000;
const WATCH_EVERY_MS = 250;

interface Parts {
  readonly mainPath: string;
  readonly writer: Writer;
  readonly compactor: Compactor;
  readonly segments: Segments;
  readonly clockNotes: ClockNotes;
  readonly events: EventReads;
  readonly reads: Reads;
  /** Whether waiting segments slow down commits; the backup is then aborted. */
  readonly isPressing: () => boolean;
}

/** A signal that is given once. */
class Gate {
  open = (): void => undefined;
  readonly opened = new Promise<void>((resolve) => (this.open = resolve));
}

interface Underway {
  /** Opened when commits may continue. */
  readonly resumed: Gate;
  /** Opened when the cold file may be written. */
  readonly released: Gate;
  /** Why the files may no longer be those of the moment. */
  failure: ConsumeError | null;
  isEnding: boolean;
  /** Resolves when nothing is held any more. */
  ended: Promise<unknown>;
  rows: Readonly<Record<string, number>>;
}

/**
 * Holds the files of the store at one moment while the daemon's thread copies them. Commits pause only until the control store is
 * copied. Compaction, retention and checkpoints wait until the main and the cold file are copied. Hot segments only grow, so their
 * copies end at the size of the moment.
 */
export class StoreBackup {
  readonly #parts: Parts;
  #underway: Underway | null = null;
  #isClosing = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Fixes the moment. @returns null while another backup is running */
  async begin(): Promise<readonly SourceFile[] | null> {
    if (this.#isClosing) throw closing();
    if (this.#underway !== null) return null;
    const underway: Underway = {
      resumed: new Gate(),
      released: new Gate(),
      failure: null,
      isEnding: false,
      ended: Promise.resolve(),
      rows: {},
    };
    this.#underway = underway;
    try {
      return await new Promise<readonly SourceFile[]>((resolve, reject) => {
        underway.ended = this.#hold(underway, resolve).catch(reject);
      });
    } catch (error) {
      this.#underway = null;
      throw error;
    }
  }

  /** Whether the event log, which is complete up to a mark, lacks facts of the moment. */
  async lacksFacts(mark: string | null): Promise<boolean> {
    this.#begun();
    const { events, segments } = this.#parts;
    return await factsStore(events, mark, segments.lastSeq);
  }

  /** Allows commits. @throws ConsumeError if they had to continue before */
  async resume(): Promise<void> {
    const { resumed, failure } = this.#begun();
    resumed.open();
    if (failure !== null) throw failure;
  }

  /** Allows writing the cold file. @returns rows at the moment, by table @throws ConsumeError if it was allowed before */
  async release(): Promise<Readonly<Record<string, number>>> {
    const underway = this.#begun();
    underway.released.open();
    await underway.ended;
    if (underway.failure !== null) throw underway.failure;
    return underway.rows;
  }

  /** Ends the backup at any time. */
  async end(): Promise<void> {
    const underway = this.#underway;
    if (underway === null) return;
    underway.isEnding = true;
    underway.resumed.open();
    underway.released.open();
    await underway.ended;
    this.#underway = null;
  }

  /** Current rows, by table. */
  async count(): Promise<Readonly<Record<string, number>>> {
    return await this.#parts.reads.forWork('export')(countRows);
  }

  /** Accepts no more backups, and aborts the running one. */
  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#underway !== null) this.#underway.failure ??= closing();
    await this.end();
  }

  #begun(): Underway {
    if (this.#underway === null) throw closing();
    return this.#underway;
  }

  async #hold(underway: Underway, begun: (files: readonly SourceFile[]) => void): Promise<void> {
    const { compactor, writer, segments, clockNotes } = this.#parts;
    const { resumed, released } = underway;
    await compactor.between(async (connection) => {
      await segments.ready();
      const capture = await writer.whilePaused(async () => {
        const files = await segments.whileUnchanged(() =>
          clockNotes.inTurn(async () => filesOf(this.#parts.mainPath, connection)),
        );
        const held = segments.capture();
        begun(files);
        const timer = setTimeout(() => {
          underway.failure ??= tookTooLong();
          resumed.open();
        }, MOST_PAUSE_MS);
        await resumed.opened;
        clearTimeout(timer);
        return held;
      });
      const watch = setInterval(() => {
        if (!this.#parts.isPressing()) return;
        underway.failure ??= gaveWay();
        released.open();
      }, WATCH_EVERY_MS);
      try {
        if (!underway.isEnding) underway.rows = await countRows(connection, capture);
      } catch (error) {
        underway.failure ??= notCounted(error);
      } finally {
        capture.release();
      }
      await released.opened;
      clearInterval(watch);
    });
  }
}

/** The files of the store with their current sizes. Indexes of ids are left out: a start rebuilds them. */
function filesOf(mainPath: string, connection: Connection): readonly SourceFile[] {
  const names = new SegmentFiles(mainPath);
  const file = (path: string, isRewritten: boolean, descriptor: number | null = null): SourceFile[] =>
    existsSync(path) ? [{ path, bytes: bytesOf(path), descriptor, isRewritten }] : [];
  // Closing another descriptor of these files would end DuckDB's lock: see `OpenFiles`.
  const database = (path: string): SourceFile[] => [
    ...file(path, true, connection.files.at(path)),
    ...file(`${path}.wal`, true),
    ...file(`${path}.metadata`, true),
  ];
  return [
    ...database(names.main),
    ...database(names.cold),
    ...names.list().flatMap(({ path }) => [...file(path, false), ...file(`${path}.wal`, false)]),
  ];
}

async function countRows(connection: Connection, capture: Capture): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  for (const table of SEGMENT_TABLES) {
    if (table.sumsOf !== undefined) continue;
    const [row] = await connection.rows(`SELECT count(*) AS rows FROM ${relation(capture, table)}`);
    rows[table.name] = Number(row?.rows);
  }
  return rows;
}

function notCounted(cause: unknown): ConsumeError {
  return new ConsumeError(
    'Could not count the rows of the store; see the cause. Check it with jackdaw store check.',
    {
      code: 'storage_unavailable',
      retryable: true,
      cause,
    },
  );
}

function tookTooLong(): ConsumeError {
  return new ConsumeError(
    `Backup aborted: copying the control store took longer than ${MOST_PAUSE_MS / 1000} seconds, and commits cannot wait longer. Use a faster disk for the backup, or stop the daemon and use --offline.`,
    { code: 'overloaded', retryable: true, retryAfterMs: 60_000 },
  );
}

function gaveWay(): ConsumeError {
  return new ConsumeError(
    'Backup aborted: compaction has to wait for it, and too many segments are waiting. Back up at a time with less traffic, use a faster disk, or raise extensions.duckdb.max_waiting_segments.',
    { code: 'overloaded', retryable: true, retryAfterMs: 60_000 },
  );
}
