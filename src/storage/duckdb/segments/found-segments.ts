import { rm } from 'node:fs/promises';
import type { Logger } from '../../../component/telemetry.js';
import {
  quarantineMessage,
  quarantineNotes,
  firstSeqOf,
  forgetQuarantine,
  noteQuarantine,
  noteReadAgain,
  noteReplacedMeanwhile,
  unreadableMessage,
  type QuarantineNote,
} from './quarantine.js';
import { isDamage, type AttachedFiles } from './attached-files.js';
import type { Connection } from '../files/connection.js';
import { isNoRoom } from '../files/disk-room.js';
import type { ListedFiles } from '../files/listed-files.js';
import { idFiles } from '../files/id-files.js';
import { LOST, nameLostNumbers } from './accepted-loss.js';
import { COLD, type Segment } from './segment.js';
import { bytesOf, type SegmentFiles } from '../files/segment-files.js';
import type { HealthIssues } from '../files/health-issues.js';

/** The hot segments that a start finds from an earlier process. */
export interface Found {
  /** Segments to compact, oldest first, followed by the one that takes new rows: a new one, except on a full disk. */
  readonly hot: readonly Segment[];
  /** Readable quarantined segments, and the number of unreadable ones. */
  readonly quarantined: readonly Segment[];
  readonly unreadable: number;
  /** The last commit compacted into the cold file. */
  readonly bound: number;
  /** Upper bounds of the commits and small numbers that unreadable segments may have used. */
  readonly unread: { readonly lastSeq: number; readonly lastNumber: number };
  /** The number of the next segment. */
  readonly nextNumber: number;
}

interface Damaged {
  readonly number: number;
  readonly path: string;
  /** The last commit in it or a later one. */
  readonly lastSeq: number;
}

interface Parts {
  readonly logger: Logger;
  readonly healthIssues: HealthIssues;
  readonly listed: ListedFiles;
  /** Whether to continue without missing files. */
  readonly acceptsLoss: boolean;
}

/**
 * Attaches the cold file and the hot segments, and creates a new segment; on a full disk the last existing one continues. A damaged
 * segment is quarantined: its file stays unchanged, the log and `/readyz` report it, and each start retries it.
 *
 * @throws StoreOpenError
 */
export async function findSegments(
  connection: Connection,
  files: AttachedFiles,
  names: SegmentFiles,
  { logger, healthIssues, listed, acceptsLoss }: Parts,
): Promise<Found> {
  const lostCold = listed.check((path) => path === names.cold, acceptsLoss, logger);
  await files.attachCold();
  const [moved] = await connection.rows(
    `SELECT coalesce(max(segment), 0) AS segment, coalesce(max(last_seq), 0) AS last_seq FROM ${COLD}.main.moved`,
  );
  const lastMoved = Number(moved?.segment);
  const bound = Number(moved?.last_seq);
  const notes = new Map((await quarantineNotes(connection)).map((note) => [note.segment, note]));
  // Compacted segments may be missing, and quarantined ones may have been moved away by an operator.
  const mayBeMissing = (path: string): boolean => {
    const number = names.numberOf(path);
    return number === null || notes.has(number) || number <= lastMoved;
  };
  const lost = [...lostCold, ...listed.check((path) => !mayBeMissing(path), acceptsLoss, logger)];
  const present = names.list();
  const number = Math.max(lastMoved, ...notes.keys(), present.at(-1)?.number ?? 0) + 1;
  const made = await createUnlessFull(files, number);
  let spare: Segment | null = null;
  const hot: Segment[] = [];
  const quarantined: Segment[] = [];
  const damaged: Damaged[] = [];
  let lastSeq = Math.max(bound, ...[...notes.values()].map((note) => note.lastSeq));
  for (const { number, path } of present) {
    // Segments are compacted in the order of their numbers, except quarantined ones.
    if (number <= lastMoved && !notes.has(number)) {
      await files.removeFiles(path);
      continue;
    }
    try {
      const segment = await files.takeOver(number, path);
      if (segment === null) continue;
      if (spare !== null) await files.remove(spare);
      spare = segment.rows === 0 ? segment : null;
      lastSeq = Math.max(lastSeq, segment.lastSeq);
      if (segment.rows > 0) (notes.has(number) ? quarantined : hot).push(segment);
    } catch (error) {
      if (!isDamage(error)) throw error;
      // A commit takes more than one byte, so the file holds fewer commits than this.
      lastSeq += bytesOf(path) + bytesOf(`${path}.wal`);
      const message = unreadableMessage(path);
      logger.error({ err: error, file: path }, message);
      healthIssues.set(`segment ${number}`, message);
      damaged.push({ number, path, lastSeq: notes.get(number)?.lastSeq ?? lastSeq });
    }
  }
  if (made.segment !== null) {
    if (spare !== null) await files.remove(spare);
    hot.push(made.segment);
  } else {
    if (spare !== null) hot.push(spare);
    if (hot.length === 0) throw made.error;
    logger.error(
      { err: made.error },
      'Not enough disk space for a new hot segment; keeping the current one.',
    );
  }
  await noteDamaged(connection, damaged, notes, [...quarantined, ...hot]);
  if (lost.length > 0) {
    const withIds = idFiles(names.main);
    const last = Math.max(lastSeq, ...withIds.map(({ upTo }) => upTo));
    await nameLostNumbers(connection, last, [...quarantined, ...hot]);
    // These files may contain ids of lost runs.
    for (const { path } of withIds) await rm(path, { force: true });
    for (const path of lost) if (path !== names.cold) await listed.remove(path);
  }
  const left = new Set([...quarantined, ...damaged].map((one) => one.number));
  for (const note of notes.keys()) {
    if (left.has(note) || note === LOST) continue;
    await listed.remove(names.hot(note));
    await forgetQuarantine(connection, note);
    logger.warn({ segment: note }, 'A quarantined segment no longer exists.');
  }
  for (const segment of quarantined) {
    segment.isQuarantined = true;
    healthIssues.set(`segment ${segment.number}`, quarantineMessage(segment.path));
    if (notes.get(segment.number)?.isRead === true) continue;
    await readAgain(connection, names, segment, [...quarantined, ...hot]);
    logger.info({ file: segment.path }, 'A quarantined segment is readable again.');
  }
  const unread = await quarantineNotes(connection);
  return {
    hot,
    quarantined,
    unreadable: damaged.length,
    bound,
    unread: {
      lastSeq: Math.max(0, ...unread.map((note) => note.lastSeq)),
      lastNumber: Math.max(0, ...unread.map((note) => note.lastNumber)),
    },
    nextNumber: number + 1,
  };
}

type Made =
  { readonly segment: Segment; readonly error: null } | { readonly segment: null; readonly error: unknown };

/** A full disk must not prevent a start. */
async function createUnlessFull(files: AttachedFiles, number: number): Promise<Made> {
  try {
    return { segment: await files.create(number), error: null };
  } catch (error) {
    if (isNoRoom(error)) return { segment: null, error };
    throw error;
  }
}

async function noteDamaged(
  connection: Connection,
  damaged: readonly Damaged[],
  notes: ReadonlyMap<number, QuarantineNote>,
  others: readonly Segment[],
): Promise<void> {
  for (const { number, lastSeq } of damaged) {
    // Noted only once: each new note would skip numbers.
    if (notes.get(number)?.isRead === false) continue;
    await noteQuarantine(connection, { segment: number, lastSeq, isRead: false }, others);
  }
}

/**
 * Rows and id files since then were written without the rows of this segment: marks superseded rows, and removes the id files that
 * cover its commits so that they are rebuilt.
 */
async function readAgain(
  connection: Connection,
  names: SegmentFiles,
  segment: Segment,
  others: readonly Segment[],
): Promise<void> {
  const later = others.filter(({ number }) => number > segment.number);
  await noteReplacedMeanwhile(connection, segment, later);
  const firstSeq = await firstSeqOf(connection, segment);
  for (const { path, after, upTo } of idFiles(names.main)) {
    if (after < segment.lastSeq && upTo >= firstSeq) await rm(path, { force: true });
  }
  await noteReadAgain(connection, segment);
}
