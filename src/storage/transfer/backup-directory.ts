import { createHash, webcrypto } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { Type, type Static } from 'typebox';
import { lockDirectory, LOCK_FILE, type DirectoryLock } from '../../config/directory-lock.js';
import { makePrivateDirectory, PRIVATE_FILE } from '../../config/private-path.js';
import { syncDirectory } from '../../config/sync-directory.js';
import { UnusableDirectory } from './export-directory.js';

/** Version of the layout. Other versions are rejected. */
export const BACKUP_FORMAT = 1;
const OBJECTS = 'objects';
const MANIFESTS = 'manifests';
/** Holds files that are being written. */
const SCRATCH = 'scratch';

const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });

const backupSchema = Type.Object({
  format: Type.Literal(BACKUP_FORMAT),
  /** The version of the program. */
  jackdaw: Type.String(),
  /** Microseconds since 1970: the moment of the backup. */
  made_at: count,
  /** The identity of the telemetry store. */
  store: Type.String(),
  /** Rows of the telemetry store, by table. */
  rows: Type.Record(Type.String(), count),
  /** Name of the main file of the telemetry store. */
  main: Type.String(),
  files: Type.Array(
    Type.Object({
      /** A name without folders. */
      name: Type.String({ pattern: '^[^/\\\\\\0]{1,255}$' }),
      bytes: count,
      /** SHA-256 of each part, in order. */
      parts: Type.Array(sha256),
    }),
  ),
});

/** A backup: the names of its files and of their parts. */
export type Backup = Static<typeof backupSchema>;
export type BackupFile = Backup['files'][number];

const manifestSchema = Type.Object({ sha256, backup: backupSchema });
const ajv = new Ajv({ strict: false });
const ID = /^\d{8}T\d{6}\.\d{6}Z$/;

/** A backup that cannot be used, with a message for its owner. */
export class UnusableBackup extends Error {
  override readonly name = 'UnusableBackup';
}

/**
 * Backups in a directory. Files are stored in parts named by their SHA-256, each once, however many backups contain it. The manifest of
 * a backup is written last. `objects/` may hold parts of unfinished backups, which the next {@link prune} removes.
 */
export class BackupDirectory {
  readonly path: string;
  /** Folders whose new names are not yet durable. */
  readonly #unsynced = new Set<string>();

  constructor(path: string) {
    this.path = path;
  }

  /** A directory for temporary files of this backup; {@link unlock} removes it. */
  get scratch(): string {
    return join(this.path, SCRATCH);
  }

  /**
   * Creates it if missing, and locks it for this process.
   *
   * @throws UnusableDirectory if it holds other files; DirectoryTaken; the file system error
   */
  async lock(): Promise<DirectoryLock> {
    const names = await readdir(this.path).catch(ifMissing([]));
    // SQLite, which locks the file, leaves a journal if the process is killed.
    const own = [OBJECTS, MANIFESTS, SCRATCH, LOCK_FILE, `${LOCK_FILE}-journal`];
    const foreign = names.find((name) => !own.includes(name));
    if (foreign !== undefined)
      throw new UnusableDirectory(
        `${this.path} holds other files (${foreign}): use an empty directory, one with earlier backups, or one that does not exist yet.`,
      );
    await makePrivateDirectory(this.path);
    const lock = await lockDirectory(this.path);
    try {
      await rm(this.scratch, { recursive: true, force: true });
      for (const folder of [OBJECTS, MANIFESTS, SCRATCH]) await makePrivateDirectory(join(this.path, folder));
    } catch (error) {
      lock.release();
      throw error;
    }
    return lock;
  }

  /** The ids of all complete backups, oldest first. @throws UnusableBackup if the directory does not exist */
  async list(): Promise<readonly string[]> {
    const names = await readdir(join(this.path, MANIFESTS)).catch((cause: unknown) => {
      throw new UnusableBackup(`${this.path} holds no backups: check the path.`, { cause });
    });
    return names
      .flatMap((name) => (name.endsWith('.json') && ID.test(name.slice(0, -5)) ? [name.slice(0, -5)] : []))
      .sort();
  }

  /** @param id the newest if undefined @throws UnusableBackup */
  async read(id?: string): Promise<{ readonly id: string; readonly backup: Backup }> {
    const ids = await this.list();
    const found = id ?? ids.at(-1);
    if (found === undefined) throw new UnusableBackup(`${this.path} holds no complete backup.`);
    if (!ids.includes(found))
      throw new UnusableBackup(
        `${this.path} holds no backup ${found}: see jackdaw backup list --from ${this.path}.`,
      );
    const path = this.#manifestOf(found);
    const read = parsed(await readFile(path, 'utf8'));
    const { backup: content } = Object(read) as { readonly backup?: unknown };
    const { format } = Object(content) as { readonly format?: unknown };
    if (typeof format === 'number' && format !== BACKUP_FORMAT)
      throw new UnusableBackup(
        `${path} is of format ${format}, and this version of Jackdaw reads format ${BACKUP_FORMAT}: restore with the version that created it.`,
      );
    if (
      !ajv.validate<Static<typeof manifestSchema>>(manifestSchema, read) ||
      read.sha256 !== sumOf(read.backup)
    )
      throw new UnusableBackup(`${path} is damaged: use another backup.`);
    return { id: found, backup: read.backup };
  }

  /** Stores a part unless it is stored already. Durable after {@link complete}. */
  async put(part: Uint8Array<ArrayBuffer>): Promise<{ readonly sha256: string; readonly isNew: boolean }> {
    const name = Buffer.from(await webcrypto.subtle.digest('SHA-256', part)).toString('hex');
    const path = this.#objectOf(name);
    const size = (await stat(path).catch(ifMissing(null)))?.size;
    if (size === part.length) return { sha256: name, isNew: false };
    const folder = join(this.path, OBJECTS, name.slice(0, 2));
    await mkdir(folder, { mode: 0o700 }).catch(ifThere);
    await writeFile(join(this.scratch, name), path, part);
    this.#unsynced.add(folder);
    return { sha256: name, isNew: true };
  }

  /** The content of a part. @throws UnusableBackup if it is missing or damaged */
  async get(name: string): Promise<Buffer> {
    const path = this.#objectOf(name);
    const remedy = 'restore another backup, remove this file if it exists, and back up again';
    const part = await readFile(path).catch((cause: unknown) => {
      throw new UnusableBackup(`${path} cannot be read (${wordsOf(cause)}): ${remedy}.`, { cause });
    });
    if (createHash('sha256').update(part).digest('hex') !== name)
      throw new UnusableBackup(`${path} is damaged: ${remedy}.`);
    return part;
  }

  /** Completes a backup. @returns its id */
  async complete(backup: Backup): Promise<string> {
    for (const folder of this.#unsynced) await syncDirectory(folder);
    await syncDirectory(join(this.path, OBJECTS));
    this.#unsynced.clear();
    const id = idOf(backup.made_at);
    const text = `${JSON.stringify({ sha256: sumOf(backup), backup })}\n`;
    await writeFile(join(this.scratch, id), this.#manifestOf(id), Buffer.from(text));
    await syncDirectory(join(this.path, MANIFESTS));
    return id;
  }

  /** Removes all but the newest backups, and all parts that no backup needs. @throws UnusableBackup if one cannot be read */
  async prune(keep: number): Promise<void> {
    const ids = await this.list();
    const kept = ids.slice(-keep);
    const needed = new Set<string>();
    // A backup that cannot be read may need any part, so nothing is removed then.
    for (const id of kept)
      for (const { parts } of (await this.read(id)).backup.files) for (const part of parts) needed.add(part);
    for (const id of ids.slice(0, -keep)) await rm(this.#manifestOf(id), { force: true });
    await syncDirectory(join(this.path, MANIFESTS));
    const objects = join(this.path, OBJECTS);
    for (const folder of await readdir(objects))
      for (const name of await readdir(join(objects, folder)))
        if (!needed.has(name)) await rm(join(objects, folder, name), { force: true });
  }

  #manifestOf(id: string): string {
    return join(this.path, MANIFESTS, `${id}.json`);
  }

  #objectOf(name: string): string {
    return join(this.path, OBJECTS, name.slice(0, 2), name);
  }
}

/** `20261130T055259.123456Z`: sorted by time. */
function idOf(madeAt: number): string {
  const seconds = new Date(Math.floor(madeAt / 1000)).toISOString().slice(0, 19).replace(/[-:]/g, '');
  return `${seconds}.${String(madeAt % 1_000_000).padStart(6, '0')}Z`;
}

function sumOf(backup: Backup): string {
  return createHash('sha256').update(JSON.stringify(backup)).digest('hex');
}

/** Writes a file that is complete once it has its name, and durable once the folder is synced. */
async function writeFile(draft: string, path: string, content: Uint8Array): Promise<void> {
  const file = await open(draft, 'w', PRIVATE_FILE);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

function ifMissing<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return value;
    throw error;
  };
}

function ifThere(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
