import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Ajv } from 'ajv';
import { Type, type Static } from 'typebox';
import { tableOf } from './exported-tables.js';

/** Version of the layout. Other versions are rejected. */
export const FORMAT = 1;
export const MANIFEST = 'manifest.json';
/** Marks an export until its manifest exists. */
export const INCOMPLETE = 'INCOMPLETE';
/** Directories of an export. */
export const TELEMETRY = 'telemetry';
export const CONTROL = 'control';
/** In the directory of control data: the key of sealed secrets, if it is stored in a file. */
export const SECRETS_KEY = 'secrets-key';

const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const manifestSchema = Type.Object({
  format: Type.Literal(FORMAT),
  /** The version of the program. */
  jackdaw: Type.String(),
  /** Microseconds since 1970: the time of the snapshot. */
  exported_at: count,
  /** The identity of the telemetry store. */
  telemetry_store: Type.String(),
  /** Rows in damaged blocks of the store; absent if there were none. Unknown values are null. */
  missing: Type.Optional(
    Type.Array(
      Type.Object({
        /** A table of the export, or `payloads`: spans without their inputs, outputs and metadata. */
        table: Type.String(),
        first_commit: count,
        last_commit: count,
        rows: Type.Union([count, Type.Null()]),
        /** Ids. */
        users: Type.Union([Type.Array(Type.String()), Type.Null()]),
        /** The earliest and the latest time, in microseconds since 1970. */
        from: Type.Union([Type.Integer(), Type.Null()]),
        to: Type.Union([Type.Integer(), Type.Null()]),
      }),
    ),
  ),
  files: Type.Array(
    Type.Object({
      /** Relative to the directory, with `/`. */
      path: Type.String(),
      /** 0 for files without rows. */
      rows: count,
      bytes: count,
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    }),
  ),
});

/** The contents of an export. It is written last: a directory without it is not an export. */
export type Manifest = Static<typeof manifestSchema>;
export type ManifestMissing = NonNullable<Manifest['missing']>[number];
export type ManifestFile = Manifest['files'][number];

/** A directory that cannot be imported, with a message for its owner. */
export class UnusableExport extends Error {
  override readonly name = 'UnusableExport';
}

/** The size and checksum of a file. */
export async function measureFile(path: string): Promise<Pick<ManifestFile, 'bytes' | 'sha256'>> {
  const hash = createHash('sha256');
  let bytes = 0;
  await pipeline(createReadStream(path), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
    }
  });
  return { bytes, sha256: hash.digest('hex') };
}

/** Why a directory has no manifest. */
async function whyNone(directory: string): Promise<string> {
  if (!(await isThere(directory))) return `There is no directory ${directory}.`;
  if (await isThere(join(directory, INCOMPLETE)))
    return `${directory} holds an export that is in progress or was interrupted: wait for its ${MANIFEST}, or remove the directory and export again.`;
  return `${directory} has no ${MANIFEST}, which only a complete export has: export again.`;
}

/** @throws UnusableExport if it is missing, incomplete, or has another layout */
export async function readManifest(directory: string): Promise<Manifest> {
  const path = join(directory, MANIFEST);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new UnusableExport(await whyNone(directory), { cause });
  }
  const found = parsed(text);
  const { format } = Object(found) as { readonly format?: unknown };
  if (typeof format === 'number' && format !== FORMAT)
    throw new UnusableExport(
      `${path} is of format ${format}, and this version of Jackdaw reads format ${FORMAT}: import with the version that created it.`,
    );
  if (!new Ajv({ strict: false }).validate<Manifest>(manifestSchema, found) || !found.files.every(isOfExport))
    throw new UnusableExport(`${path} is not the manifest of an export: export again.`);
  return found;
}

/** @throws UnusableExport that names a missing or changed file */
export async function verifyFile(directory: string, { path, bytes, sha256 }: ManifestFile): Promise<void> {
  const place = join(directory, path);
  const size = (await stat(place).catch(() => null))?.size;
  if (size === undefined)
    throw new UnusableExport(`${place} is missing: copy the whole directory, or export again.`);
  if (size === bytes && (await measureFile(place)).sha256 === sha256) return;
  throw new UnusableExport(
    `${place} differs from the exported file: copy the directory again, or export again.`,
  );
}

/** Whether the path is one that exports use: other files are never read, even if the manifest lists them. */
function isOfExport({ path }: ManifestFile): boolean {
  const [folder, name = '', ...more] = path.split('/');
  if (more.length > 0) return false;
  if (folder === TELEMETRY) return tableOf(name) !== null;
  return folder === CONTROL && (name === SECRETS_KEY || /^[a-z_]+\.jsonl$/.test(name));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
