import { read } from 'node:fs';
import { chmod, open, rm, stat, type FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { PRIVATE_FILE } from '../../config/private-path.js';
import type { Micros } from '../../signal/time.js';
import type { ControlTransfer, SourceFile, TelemetryBackup } from '../contracts/transfer.js';
import { BACKUP_FORMAT, type Backup, type BackupDirectory, type BackupFile } from './backup-directory.js';
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
  /** The file with the key of sealed secrets; null if absent. */
  readonly secretsKeyFile: string | null;
  /** The program's version. */
  readonly version: string;
  readonly now: () => Micros;
}

/** Options of a backup. */
export interface BackupOptions {
  /** Number of backups to keep, including the new one; null keeps all. */
  readonly keep: number | null;
  readonly abort: AbortSignal;
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
 * @throws UnusableDirectory, DirectoryTaken, ConsumeError, the error of the file system; the previous backups stay
 */
export async function backUp(
  sources: BackupSources,
  directory: BackupDirectory,
  { keep, abort }: BackupOptions,
): Promise<MadeBackup | null> {
  const lock = await directory.lock();
  try {
    const made = await copyStores(sources, directory, abort);
    if (made !== null && keep !== null) await directory.prune(keep);
    return made;
  } finally {
    await rm(directory.scratch, { recursive: true, force: true }).catch(() => undefined);
    lock.release();
  }
}

async function copyStores(
  { telemetry, store, control, secretsKeyFile, version, now }: BackupSources,
  directory: BackupDirectory,
  abort: AbortSignal,
): Promise<MadeBackup | null> {
  const copied = join(directory.scratch, CONTROL_FILE);
  const handles: FileHandle[] = [];
  const sources = await telemetry.begin();
  if (sources === null) return null;
  const files: BackupFile[] = [];
  let copiedBytes = 0;
  const copy = async (name: string, bytes: number, descriptor: number): Promise<void> => {
    const parts: string[] = [];
    for await (const part of partsOf(descriptor, bytes)) {
      abort.throwIfAborted();
      const { sha256, isNew } = await directory.put(part);
      parts.push(sha256);
      if (isNew) copiedBytes += part.length;
    }
    files.push({ name, bytes, parts });
  };
  try {
    const made_at = now();
    // Opened now, because compaction removes hot segments later.
    const opened: (SourceFile & { readonly descriptor: number })[] = [];
    for (const file of sources)
      opened.push({ ...file, descriptor: file.descriptor ?? (await openIn(handles, file.path)) });
    await control.copy(copied);
    await telemetry.resume();
    await chmod(copied, PRIVATE_FILE);
    for (const { path, bytes, descriptor, isRewritten } of opened)
      if (isRewritten) await copy(basename(path), bytes, descriptor);
    const rows = await telemetry.release();
    for (const { path, bytes, descriptor, isRewritten } of opened)
      if (!isRewritten) await copy(basename(path), bytes, descriptor);
    for (const [name, path] of [
      [CONTROL_FILE, copied] as const,
      ...(secretsKeyFile === null ? [] : [[SECRETS_KEY, secretsKeyFile] as const]),
    ])
      await copy(name, (await stat(path)).size, await openIn(handles, path));
    abort.throwIfAborted();
    const backup: Backup = {
      ...{ format: BACKUP_FORMAT, jackdaw: version, made_at, store },
      rows: { ...rows },
      main: basename(sources[0]?.path ?? ''),
      files,
    };
    const id = await directory.complete(backup);
    return { id, backup, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), copiedBytes };
  } finally {
    await telemetry.end();
    for (const handle of handles) await handle.close();
  }
}

async function openIn(handles: FileHandle[], path: string): Promise<number> {
  const handle = await open(path, 'r');
  handles.push(handle);
  return handle.fd;
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
