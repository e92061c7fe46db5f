import { createHash, webcrypto } from 'node:crypto';
import { Ajv } from 'ajv';
import { Type, type Static } from 'typebox';

/** Version of the layout. Other versions are rejected. */
export const BACKUP_FORMAT = 1;
export const OBJECTS = 'objects';
export const MANIFESTS = 'manifests';
/** Number of parts that are read or written at the same time, which limits memory and hides the latency of a network. */
const PARTS_AT_ONCE = 8;

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
  /** Rows of the control store, by table. Missing in backups of early builds. */
  control_rows: Type.Optional(Type.Record(Type.String(), count)),
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

/** A backup or a place for backups that cannot be used, with a message for its owner. */
export class UnusableBackup extends Error {
  override readonly name = 'UnusableBackup';
}

/** A directory or a bucket. Names of its files are relative and contain `/`. */
export interface BackupPlace {
  /** Its path or URL, for messages. */
  readonly name: string;
  /** A local directory for temporary files, which exists while the place is locked; null if it has none. */
  readonly scratch: string | null;
  /** The path or URL of a file, for messages. */
  where(name: string): string;
  /**
   * Locks it for one backup, and creates it if missing.
   *
   * @param store identity of the store that is backed up
   * @param abort ends requests in progress
   * @throws UnusableBackup, UnusableDirectory, DirectoryTaken
   */
  lock(store: string, abort: AbortSignal): Promise<{ release(): Promise<void> }>;
  /** The names of all files in a folder and its subfolders. @throws UnusableBackup if the place does not exist */
  list(folder: string): AsyncIterable<string>;
  /** The size of a file; null if it does not exist. Call it while the place is locked. */
  bytesOf(name: string): Promise<number | null>;
  /** The content of a file; null if it does not exist. */
  read(name: string): Promise<Uint8Array | null>;
  /** Writes a file, which gets its name once it is complete. @param hash its SHA-256 in hexadecimal */
  write(name: string, content: Uint8Array, hash: string): Promise<void>;
  /** Makes everything durable that was written, or found by {@link bytesOf}. */
  flush(): Promise<void>;
  remove(name: string): Promise<void>;
}

/**
 * The backups in a place. Files are stored in parts named by their SHA-256, each once, however many backups contain it. The manifest of
 * a backup is written last. `objects/` may hold parts of unfinished backups, which the next {@link prune} removes.
 */
export class Backups {
  readonly place: BackupPlace;
  /** Parts that are being stored. */
  readonly #storing = new Map<string, Promise<boolean>>();

  constructor(place: BackupPlace) {
    this.place = place;
  }

  /** The ids of all complete backups, oldest first. @throws UnusableBackup if the place does not exist */
  async list(): Promise<readonly string[]> {
    const ids: string[] = [];
    for await (const name of this.place.list(MANIFESTS)) {
      const id = name.slice(MANIFESTS.length + 1, -'.json'.length);
      if (manifestOf(id) === name && ID.test(id)) ids.push(id);
    }
    return ids.sort();
  }

  /** @param id the newest if undefined @throws UnusableBackup */
  async read(id?: string): Promise<{ readonly id: string; readonly backup: Backup }> {
    const ids = await this.list();
    const found = id ?? ids.at(-1);
    const { name } = this.place;
    if (found === undefined) throw new UnusableBackup(`${name} holds no complete backup.`);
    const content = ids.includes(found) ? await this.place.read(manifestOf(found)) : null;
    if (content === null)
      throw new UnusableBackup(`${name} holds no backup ${found}: see jackdaw backup list --from ${name}.`);
    const where = this.place.where(manifestOf(found));
    const read = parsed(Buffer.from(content).toString());
    const { backup } = Object(read) as { readonly backup?: unknown };
    const { format } = Object(backup) as { readonly format?: unknown };
    if (typeof format === 'number' && format !== BACKUP_FORMAT)
      throw new UnusableBackup(
        `${where} is of format ${format}, and this version of Jackdaw reads format ${BACKUP_FORMAT}: restore with the version that created it.`,
      );
    if (
      !ajv.validate<Static<typeof manifestSchema>>(manifestSchema, read) ||
      read.sha256 !== hashOf(JSON.stringify(read.backup))
    )
      throw new UnusableBackup(`${where} is damaged: use another backup.`);
    return { id: found, backup: read.backup };
  }

  /** Stores a part unless it is stored already. Durable after {@link complete}. */
  async put(part: Uint8Array<ArrayBuffer>): Promise<{ readonly sha256: string; readonly isNew: boolean }> {
    const hash = Buffer.from(await webcrypto.subtle.digest('SHA-256', part)).toString('hex');
    const other = this.#storing.get(hash);
    if (other !== undefined) {
      await other;
      return { sha256: hash, isNew: false };
    }
    const storing = this.#store(hash, part).finally(() => this.#storing.delete(hash));
    this.#storing.set(hash, storing);
    return { sha256: hash, isNew: await storing };
  }

  async #store(hash: string, part: Uint8Array): Promise<boolean> {
    if ((await this.place.bytesOf(objectOf(hash))) === part.length) return false;
    await this.place.write(objectOf(hash), part, hash);
    return true;
  }

  /** The content of a part. @throws UnusableBackup if it is missing or damaged */
  async get(hash: string): Promise<Uint8Array> {
    const where = this.place.where(objectOf(hash));
    const remedy = 'restore another backup, remove this file if it exists, and back up again';
    const part = await this.place.read(objectOf(hash)).catch((cause: unknown) => {
      if (cause instanceof UnusableBackup) throw cause;
      throw new UnusableBackup(`${where} cannot be read (${wordsOf(cause)}): ${remedy}.`, { cause });
    });
    if (part === null) throw new UnusableBackup(`${where} is missing: ${remedy}.`);
    if (hashOf(part) !== hash) throw new UnusableBackup(`${where} is damaged: ${remedy}.`);
    return part;
  }

  /** Completes a backup. @returns its id */
  async complete(backup: Backup): Promise<string> {
    await this.place.flush();
    const id = idOf(backup.made_at);
    const content = Buffer.from(`${JSON.stringify({ sha256: hashOf(JSON.stringify(backup)), backup })}\n`);
    await this.place.write(manifestOf(id), content, hashOf(content));
    await this.place.flush();
    return id;
  }

  /**
   * Removes all but the newest backups, and all parts that no backup needs.
   *
   * @param last the id of the last completed backup, which stays even if the clock was set back and others seem newer
   * @returns the number of removed parts
   * @throws UnusableBackup if one cannot be read
   */
  async prune(keep: number, last: string): Promise<number> {
    const others = (await this.list()).filter((id) => id !== last);
    const removed = others.slice(0, Math.max(0, others.length - keep + 1));
    const needed = new Set<string>();
    // A backup that cannot be read may need any part, so nothing is removed then.
    for (const id of [...others.slice(removed.length), last])
      for (const { parts } of (await this.read(id)).backup.files)
        for (const part of parts) needed.add(objectOf(part));
    for (const id of removed) await this.place.remove(manifestOf(id));
    // Durable before any part is removed.
    await this.place.flush();
    const removing = inParallel(this.place.list(OBJECTS), async (name) => {
      if (needed.has(name)) return 0;
      await this.place.remove(name);
      return 1;
    });
    let sum = 0;
    for await (const one of removing) sum += one;
    return sum;
  }
}

/** Works on {@link PARTS_AT_ONCE} items at the same time. Yields results in the order of the items; no work is left running. */
export async function* inParallel<T, R>(
  items: AsyncIterable<T> | Iterable<T>,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const running: Promise<R>[] = [];
  try {
    for await (const item of items) {
      const result = work(item);
      // It is awaited later.
      result.catch(() => undefined);
      running.push(result);
      const [first] = running;
      if (first === undefined || running.length < PARTS_AT_ONCE) continue;
      yield await first;
      void running.shift();
    }
    for (const result of running) yield await result;
  } finally {
    await Promise.allSettled(running);
  }
}

function manifestOf(id: string): string {
  return `${MANIFESTS}/${id}.json`;
}

function objectOf(hash: string): string {
  return `${OBJECTS}/${hash.slice(0, 2)}/${hash}`;
}

/** `20261130T055259.123456Z`: sorted by time. */
function idOf(madeAt: number): string {
  const seconds = new Date(Math.floor(madeAt / 1000)).toISOString().slice(0, 19).replace(/[-:]/g, '');
  return `${seconds}.${String(madeAt % 1_000_000).padStart(6, '0')}Z`;
}

function hashOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
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
