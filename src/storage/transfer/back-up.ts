import { read } from 'node:fs';
import { chmod, open, rm, type FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { makePrivateDirectory, PRIVATE_FILE } from '../../config/private-path.js';
import type { Micros } from '../../signal/time.js';
import type { ControlTransfer, SourceFile, TelemetryBackup } from '../contracts/transfer.js';
import { unwritten } from './backup-directory.js';
import { BACKUP_FORMAT, inParallel, type Backup, type BackupFile, type Backups } from './backups.js';
import { SECRETS_KEY } from './manifest.js';

/** Name of the control store in a backup. */
export const CONTROL_FILE = 'jackdaw.control.db';
/** DuckDB's blocks begin behind a head of this size; parts that contain whole blocks change least. */
const HEAD_BYTES = 12_288;
const PART_BYTES = 1024 * 1024;

const readAt = promisify(read);

/** The stores to back up. */
export interface BackupSources {
  readonly telemetry: TelemetryBackup;
  /** The identity of the telemetry store. */
  readonly store: string;
  readonly control: Pick<ControlTransfer, 'copy'>;
  /** The file with the key of sealed secrets, which may not exist (yet). */
  readonly secretsKeyFile: string;
  /** Path of a directory for temporary files, created if the place of the backups has none. */
  readonly scratch: string;
  /** The program's version. */
  readonly version: string;
  readonly now: () => Micros;
}

/** Options of a backup. */
export interface BackupOptions {
  /** Number of backups to keep, including the new one; null keeps all. */
  readonly keep: number | null;
  readonly abort: AbortSignal;
  /** Receives the number of bytes that are backed up so far, and the total. */
  readonly reached?: (bytes: number, total: number) => void;
}

/** A completed backup. */
export interface MadeBackup {
  readonly id: string;
  readonly backup: Backup;
  /** Bytes of all files. */
  readonly bytes: number;
  /** Bytes that earlier backups did not contain. */
  readonly copiedBytes: number;
}

/**
 * Backs up both stores while they are in use.
 *
 * @returns null while another backup of the store is running
 * @throws UnusableBackup, UnusableDirectory, DirectoryTaken, ConsumeError, the error of the file system; the previous backups stay
 */
export async function backUp(
  sources: BackupSources,
  backups: Backups,
  { keep, ...options }: BackupOptions,
): Promise<MadeBackup | null> {
  const lock = await backups.place.lock(sources.store, options.abort);
  try {
    const made = await copyStores(sources, backups, options);
    if (made !== null && keep !== null) await backups.prune(keep, made.id);
    return made;
  } finally {
    await lock.release();
  }
}

async function copyStores(
  { telemetry, store, control, secretsKeyFile, scratch, version, now }: BackupSources,
  backups: Backups,
  { abort, reached = () => undefined }: Omit<BackupOptions, 'keep'>,
): Promise<MadeBackup | null> {
  const handles: FileHandle[] = [];
  const sources = await telemetry.begin();
  if (sources === null) return null;
  const files: BackupFile[] = [];
  let [bytes, copiedBytes, total] = [0, 0, 0];
  const copy = async (name: string, size: number, descriptor: number): Promise<void> => {
    const parts: string[] = [];
    const putting = inParallel(partsOf(descriptor, size), async (part) => ({
      ...(await backups.put(part)),
      length: part.length,
    }));
    for await (const { sha256, isNew, length } of putting) {
      abort.throwIfAborted();
      parts.push(sha256);
      bytes += length;
      if (isNew) copiedBytes += length;
      reached(bytes, total);
    }
    files.push({ name, bytes: size, parts });
  };
  const temporary = backups.place.scratch ?? scratch;
  try {
    const made_at = now();
    // Opened now, because compaction removes hot segments later.
    const opened = await openAll(sources, handles);
    const copied = join(temporary, CONTROL_FILE);
    if (backups.place.scratch === null) await rm(scratch, { recursive: true, force: true });
    await makePrivateDirectory(temporary);
    const control_rows = await control.copy(copied).catch((error: unknown) => {
      throw unwritten(temporary, error);
    });
    await telemetry.resume();
    await chmod(copied, PRIVATE_FILE);
    const others: (readonly [name: string, handle: FileHandle])[] = [
      [CONTROL_FILE, await openIn(handles, copied)],
    ];
    const key = await openIn(handles, secretsKeyFile).catch(ifMissing);
    if (key !== null) others.push([SECRETS_KEY, key]);
    const sized = await Promise.all(
      others.map(async ([name, handle]) => ({ name, size: (await handle.stat()).size, fd: handle.fd })),
    );
    total = [...opened.map((file) => file.bytes), ...sized.map(({ size }) => size)].reduce(
      (a, b) => a + b,
      0,
    );
    for (const { path, bytes: size, descriptor, isRewritten } of opened)
      if (isRewritten) await copy(basename(path), size, descriptor);
    const rows = await telemetry.release();
    for (const { path, bytes: size, descriptor, isRewritten } of opened)
      if (!isRewritten) await copy(basename(path), size, descriptor);
    for (const { name, size, fd } of sized) await copy(name, size, fd);
    abort.throwIfAborted();
    const backup: Backup = {
      ...{ format: BACKUP_FORMAT, jackdaw: version, made_at, store },
      rows: { ...rows },
      control_rows: { ...control_rows },
      main: basename(sources[0]?.path ?? ''),
      files,
    };
    return { id: await backups.complete(backup), backup, bytes, copiedBytes };
  } finally {
    await telemetry.end();
    for (const handle of handles) await handle.close();
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
  }
}

type OpenedFile = SourceFile & { readonly descriptor: number };

/** Leaves out compacted segments that were removed after they were listed. */
async function openAll(sources: readonly SourceFile[], handles: FileHandle[]): Promise<OpenedFile[]> {
  const opened: OpenedFile[] = [];
  let removed = '';
  for (const file of sources) {
    if (removed !== '' && file.path.startsWith(removed)) continue;
    const descriptor = file.descriptor ?? (await openIn(handles, file.path).catch(ifMissing))?.fd ?? null;
    if (descriptor !== null) opened.push({ ...file, descriptor });
    else if (file.isRewritten) throw new Error(`${file.path} disappeared during the backup: back up again.`);
    else removed = file.path;
  }
  return opened;
}

async function openIn(handles: FileHandle[], path: string): Promise<FileHandle> {
  const handle = await open(path, 'r');
  handles.push(handle);
  return handle;
}

function ifMissing(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
  throw error;
}

/** Reads a file up to a size. @throws Error if it is shorter */
async function* partsOf(descriptor: number, bytes: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < bytes;) {
    const part = Buffer.alloc(Math.min(at === 0 ? HEAD_BYTES : PART_BYTES, bytes - at));
    for (let done = 0; done < part.length;) {
      const { bytesRead } = await readAt(descriptor, part, done, part.length - done, at + done);
      if (bytesRead === 0)
        throw new Error('A file of the store became shorter during the backup: back up again.');
      done += bytesRead;
    }
    yield part;
    at += part.length;
  }
}
