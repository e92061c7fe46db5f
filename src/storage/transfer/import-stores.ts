import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { furtherModule } from '../../config/built-module.js';
import { PRIVATE_FILE } from '../../config/private-path.js';
import type { ParquetReader } from '../duckdb/files/parquet-files.js';
import type { ControlFile, ControlTransfer, ExportedRow, TelemetryIn } from '../contracts/transfer.js';
import { EXPORTED, fileOf, tableOf, type TableName } from './exported-tables.js';
import { RunsImport } from './import-runs.js';
import { CONTROL, SECRETS_KEY, TELEMETRY, UnusableExport, verifyFile, type Manifest } from './manifest.js';
import { parquet } from './parquet.js';
import { bytesOf } from './row-bytes.js';
import { Sending } from './sending.js';

/** The stores to import into. */
export interface ImportTarget {
  readonly telemetry: TelemetryIn;
  /** The identity of the telemetry store. */
  readonly store: string;
  readonly control: ControlTransfer;
  /** Converts a rule's evidence for the new telemetry store, so that it does not fire again for the same rows. */
  readonly moveEvidence: (evidence: string, from: string, to: string, seen: string) => string;
  /** Puts the key of sealed secrets where the control store expects it: before any secret is sealed there. */
  readonly placeKey: () => Promise<void>;
}

const ALERT_RULES = 'alert_rules.jsonl';
const COUNTERS = 'counters.jsonl';
const MESSAGE_ROWS = 2000;
const MESSAGE_BYTES = 1024 * 1024;

/** A store that is not empty or is being filled, with a message for its owner. */
export class NotEmpty extends Error {
  override readonly name = 'NotEmpty';
}

/** Options and progress callback of an import. */
export interface ImportControl {
  /** Called with the number of durable telemetry rows, and their table. */
  readonly wrote: (rows: number, table: TableName) => void;
  readonly abort: AbortSignal;
}

/**
 * Verifies the checksums of all files of a directory.
 *
 * @throws UnusableExport that names the first mismatch
 */
export async function verifyExport(directory: string, { files }: Manifest): Promise<void> {
  for (const file of files) await verifyFile(directory, file);
}

/**
 * Imports a verified directory into both stores. The control store is last, in one transaction, so that incomplete telemetry is not
 * visible to users.
 *
 * @throws NotEmpty: nothing was changed; UnusableExport, Error: the telemetry store may contain a part, which the message says
 */
export async function importStores(
  target: ImportTarget,
  directory: string,
  manifest: Manifest,
  progress: ImportControl,
): Promise<void> {
  const { telemetry, control } = target;
  if (!(await telemetry.begin()))
    throw new NotEmpty(
      'Another import into this telemetry store is in progress or was killed less than 30 seconds ago: wait and try again.',
    );
  try {
    await refuseFull(telemetry, control);
    await fillStores(target, directory, manifest, progress).catch(async (error: unknown) => {
      throw await unfinished(telemetry, error);
    });
  } finally {
    await telemetry.end();
  }
}

async function fillStores(
  { telemetry, store, control, moveEvidence, placeKey }: ImportTarget,
  directory: string,
  manifest: Manifest,
  progress: ImportControl,
): Promise<void> {
  const files = controlFiles(directory, manifest);
  await control.reserve(files.filter(({ name }) => name === COUNTERS));
  const scratch = await mkdtemp(join(tmpdir(), 'jackdaw-import-'));
  try {
    const reader = await openReader(scratch);
    try {
      const isWhole = manifest.missing === undefined;
      await new TelemetryImport(reader, telemetry, pathsOf(directory, manifest), progress).run(isWhole);
    } finally {
      reader.close();
    }
    const seen = await telemetry.finish(manifest.exported_at);
    const move = (evidence: string): string => moveEvidence(evidence, manifest.telemetry_store, store, seen);
    const moved = await withMovedEvidence(files, scratch, move);
    await placeKey();
    await control.import(moved);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

const READER = furtherModule(new URL('../duckdb/files/parquet-files.js', import.meta.url));

/** Loads DuckDB lazily: only imports need it. */
async function openReader(scratch: string): Promise<ParquetReader> {
  const loaded = (await import(READER.href)) as { readonly ParquetReader: typeof ParquetReader };
  return await loaded.ParquetReader.open(scratch);
}

async function refuseFull(telemetry: TelemetryIn, control: ControlTransfer): Promise<void> {
  const kept = await control.holds();
  if (kept !== null)
    throw new NotEmpty(
      `The control store already contains ${kept}: import into a new store, before a daemon first uses it.`,
    );
  const stored = await telemetry.holds();
  if (stored !== null)
    throw new NotEmpty(
      `The telemetry store already contains ${stored}, possibly from an interrupted import: use a new store, or empty this one.`,
    );
}

/** The error of an import that failed before its end. */
async function unfinished(telemetry: TelemetryIn, error: unknown): Promise<unknown> {
  // The problem of the directory must be fixed first.
  if (error instanceof UnusableExport) return error;
  const stored = await telemetry.holds().catch(() => 'contents unknown');
  if (stored === null) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new Error(
    `${reason.replace(/\.?$/, '.')} The import is incomplete. Its telemetry is not visible to anyone (${stored}): remove it and import again.`,
    { cause: error },
  );
}

/** The paths of a table's files, in order. */
type PathsOf = (table: TableName) => readonly string[];

function pathsOf(directory: string, { files }: Manifest): PathsOf {
  const paths = files.filter(({ path }) => path.startsWith(`${TELEMETRY}/`)).map(({ path }) => path);
  return (table) =>
    paths
      .filter((path) => tableOf(basename(path)) === table)
      .sort()
      .map((path) => join(directory, path));
}

function controlFiles(directory: string, { files }: Manifest): readonly ControlFile[] {
  return files
    .filter(({ path }) => path.startsWith(`${CONTROL}/`) && basename(path) !== SECRETS_KEY)
    .map(({ path, rows }) => ({ name: basename(path), rows, path: join(directory, path) }));
}

class TelemetryImport {
  readonly #reader: ParquetReader;
  readonly #to: TelemetryIn;
  readonly #paths: PathsOf;
  readonly #wrote: ImportControl['wrote'];
  readonly #sending: Sending;

  constructor(reader: ParquetReader, to: TelemetryIn, paths: PathsOf, { wrote, abort }: ImportControl) {
    this.#reader = reader;
    this.#to = to;
    this.#paths = paths;
    this.#wrote = wrote;
    this.#sending = new Sending(abort);
  }

  /** All work has ended when it resolves or rejects. @param isWhole whether the export contains all rows */
  async run(isWhole: boolean): Promise<void> {
    try {
      await this.#run(isWhole);
    } finally {
      await this.#sending.idle();
    }
  }

  async #run(isWhole: boolean): Promise<void> {
    const all = async (table: TableName) =>
      await this.#reader.all(EXPORTED[table].columns, parquet(this.#only(table)));
    const [agents, usage, batches] = [await all('agents'), await all('usage'), await all('batches')];
    await this.#to.base({ agents, usage, batches });
    const runs = new RunsImport(this.#reader, this.#to, this.#sending, (rows) => {
      this.#wrote(rows, 'spans');
    });
    await runs.import(this.#only('runs'), this.#paths('spans'), isWhole);
    await this.#sending.settled();
    await this.#importLinks();
    await this.#importItems('points', (tenant, rows) => this.#to.points(tenant, rows));
    await this.#importItems('logs', (tenant, rows) => this.#to.logs(tenant, rows));
    await this.#importItems('scores', (tenant, rows) => this.#to.scores(tenant, rows));
    await this.#sending.settled();
  }

  #only(table: TableName): string {
    const [path] = this.#paths(table);
    if (path === undefined) throw new UnusableExport(`The export has no ${fileOf(table)}: export again.`);
    return path;
  }

  async #importLinks(): Promise<void> {
    for await (const page of this.#reader.pages(EXPORTED.links.columns, parquet(this.#only('links'))))
      for (const row of page) {
        const link = {
          promptNo: Number(row['prompt_no']),
          traceId: String(row['trace_id']),
          spanId: typeof row['span_id'] === 'string' ? row['span_id'] : null,
          linkedAt: Number(row['linked_at']),
        };
        await this.#sending.send(bytesOf(row), () => this.#to.link(Number(row['tenant']), link));
      }
  }

  /** Consecutive rows of one user are sent together. */
  async #importItems(
    table: 'points' | 'logs' | 'scores',
    write: (tenant: number, rows: readonly ExportedRow[]) => Promise<void>,
  ): Promise<void> {
    let rows: ExportedRow[] = [];
    let bytes = 0;
    const send = async (): Promise<void> => {
      const sent = rows;
      const [first] = sent;
      if (first === undefined) return;
      const taken = bytes;
      rows = [];
      bytes = 0;
      await this.#sending.send(taken, async () => {
        await write(Number(first['tenant']), sent);
        this.#wrote(sent.length, table);
      });
    };
    for (const path of this.#paths(table))
      for await (const page of this.#reader.pages(EXPORTED[table].columns, parquet(path)))
        for (const row of page) {
          const isFull = rows.length >= MESSAGE_ROWS || bytes > MESSAGE_BYTES;
          if (isFull || rows[0]?.['tenant'] !== row['tenant']) await send();
          rows.push(row);
          bytes += bytesOf(row);
        }
    await send();
  }
}

/** The alert rules, with their evidence converted for the new store. */
async function withMovedEvidence(
  files: readonly ControlFile[],
  scratch: string,
  move: (evidence: string) => string,
): Promise<readonly ControlFile[]> {
  const rules = files.find(({ name }) => name === ALERT_RULES);
  if (rules === undefined) return files;
  const lines = (await readFile(rules.path, 'utf8')).split('\n').filter((line) => line !== '');
  const moved = lines.map((line) => {
    const rule = JSON.parse(line) as { readonly evidence?: unknown };
    return JSON.stringify(
      typeof rule.evidence === 'string' ? { ...rule, evidence: move(rule.evidence) } : rule,
    );
  });
  const path = join(scratch, ALERT_RULES);
  await writeFile(path, moved.map((line) => `${line}\n`).join(''), { mode: PRIVATE_FILE });
  return files.map((file) => (file === rules ? { ...rules, path } : file));
}
