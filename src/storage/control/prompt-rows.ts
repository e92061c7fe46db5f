import { sql, type SelectQueryBuilder, type Transaction } from 'kysely';
import { itemAt } from '../../signal/checked.js';
import { ConflictError } from '../contracts/errors.js';
import {
  MOST_TEXT_BYTES,
  MOST_VERSIONS,
  promptBytes,
  type NamedVersion,
  type NumberedVersion,
  type PromptPage,
  type Prompts,
  type PromptVersion,
} from '../contracts/prompts.js';
import { ROW_BYTES } from '../contracts/telemetry-writer.js';
import type { ControlDatabase } from './control-database.js';
import { appendFacts, isWanted } from './event-rows.js';
import { indexKey } from './index-key.js';
import { nextNumbers } from './numbers.js';
import type { Tables } from './tables.js';
import { envelope } from '../../signal/event.js';
import { uuidV7 } from '../../signal/ids.js';
import { cutText } from '../../signal/names.js';
import { MICROS_PER_MS } from '../../signal/time-units.js';
import { formatTime } from '../../signal/time.js';
import type { Fact } from '../contracts/events.js';

/** Maximum length of a description in its event, to keep payloads for receivers small. */
const MOST_DESCRIPTION = 1000;

/** The fact for the creation of a prompt version. */
function promptCreated(userId: string, prompt: PromptVersion): Fact {
  const { id, name, version, description, is_active, created_at } = prompt;
  const head = {
    id: uuidV7(created_at / MICROS_PER_MS),
    type: 'prompt.created',
    timestamp: created_at,
  } as const;
  const body = envelope(head, {
    id,
    name,
    version,
    description: description === null ? null : cutText(description, MOST_DESCRIPTION),
    is_active,
    created_at: formatTime(created_at),
  });
  return {
    fact: `prompt.created:${id}`,
    tenant: userId,
    event: { ...head, organization_id: null, endpoint_id: null, body },
  };
}

/** Bytes of text per page of a list: copied and serialized in a few milliseconds. */
const PAGE_BYTES = 256 * 1024;
const PAGE_PROMPTS = 500;
/** Each is a nested condition; SQLite allows a depth of a thousand. */
const VERSIONS_A_QUERY = 200;
/** Each takes a parameter; SQLite allows 32,766. */
const NUMBERS_A_QUERY = 10_000;
/** Maximum number of a user's prompts whose deleted versions are kept: the latest deleted. */
const REMEMBERED_REMOVALS = 10_000;

/** A position in a list: after a version of a prompt, among those that existed when the list began. */
interface Place {
  readonly last: number;
  readonly name: string;
  readonly version: number;
}

/** Prompts. */
export class PromptRows implements Prompts {
  readonly #database: ControlDatabase;

  constructor(database: ControlDatabase) {
    this.#database = database;
  }

  async create(userId: string, prompt: PromptVersion): Promise<number> {
    const user_id = userId.toLowerCase();
    const { id, name, version, template_text, description, is_active, created_at } = prompt;
    const name_key = indexKey(name);
    return await this.#database.transaction(async (tx, notify) => {
      // Takes the lock that enforces the limits.
      const number = await nextNumbers(tx, 'prompt', 1);
      const inserted = await tx
        .insertInto('prompts')
        .values({
          ...{
            number,
            id,
            user_id,
            name,
            name_key,
            version,
            template_text,
            description,
            created_at,
          },
          is_active: Number(is_active),
          bytes: promptBytes(prompt),
        })
        .onConflict((conflict) => conflict.columns(['user_id', 'name_key', 'version']).doNothing())
        .executeTakeFirst();
      if (inserted.numInsertedOrUpdatedRows !== 1n)
        throw new ConflictError('version', `Version ${String(version)} of the prompt already exists.`);
      await refuseRemoved(tx, { user_id, name_key, version });
      await refuseTooMany(tx, user_id);
      notify('prompts');
      const fact = promptCreated(user_id, prompt);
      if (await isWanted(tx, fact)) {
        await appendFacts(tx, [fact]);
        notify('events');
      }
      return number;
    });
  }

  async remove(userId: string, name: string, version: number | null): Promise<boolean> {
    const user_id = userId.toLowerCase();
    const name_key = indexKey(name);
    return await this.#database.transaction(async (tx, notify) => {
      const number = await nextNumbers(tx, 'prompt', 1);
      let removing = tx.deleteFrom('prompts').where('user_id', '=', user_id).where('name_key', '=', name_key);
      if (version !== null) removing = removing.where('version', '=', version);
      const removed = (await removing.returning('version').execute()).map((row) => row.version);
      if (removed.length === 0) return false;
      const highest = removed.reduce((a, b) => Math.max(a, b));
      const before = await removedVersion(tx, { user_id, name_key });
      await tx
        .insertInto('prompt_removals')
        .values({ user_id, name_key, version: Math.max(highest, before), number })
        .onConflict((conflict) =>
          conflict.columns(['user_id', 'name_key']).doUpdateSet((row) => ({
            version: row.ref('excluded.version'),
            number: row.ref('excluded.number'),
          })),
        )
        .execute();
      await tx
        .deleteFrom('prompt_removals')
        .where('user_id', '=', user_id)
        .where('number', '<=', (row) =>
          row
            .selectFrom('prompt_removals')
            .select('number')
            .where('user_id', '=', user_id)
            .orderBy('number', 'desc')
            .offset(REMEMBERED_REMOVALS)
            .limit(1),
        )
        .execute();
      notify('prompts');
      return true;
    });
  }

  async list(userId: string, after?: string): Promise<PromptPage> {
    return await this.#page(userId, null, after);
  }

  async findNames(userId: string, text: string, limit: number): Promise<readonly string[]> {
    const pattern = `%${inLowerCase(text).replaceAll(/[\\%_]/g, '\\$&')}%`;
    const found = await this.#database.read((db) =>
      db
        .selectFrom('prompts')
        .select('name')
        .distinct()
        .where('user_id', '=', userId.toLowerCase())
        .where(sql<boolean>`lower(name) like ${pattern} escape '\\'`)
        .orderBy('name')
        .limit(limit)
        .execute(),
    );
    return found.map(({ name }) => name);
  }

  async listVersions(userId: string, name: string, after?: string): Promise<PromptPage | null> {
    const page = await this.#page(userId, name, after);
    return page.prompts.length === 0 && after === undefined ? null : page;
  }

  async findNumber(userId: string, name: string, version: number): Promise<number | null> {
    const found = await this.#database.read((db) =>
      db
        .selectFrom('prompts')
        .select('number')
        .where('user_id', '=', userId.toLowerCase())
        .where('name_key', '=', indexKey(name))
        .where('version', '=', version)
        .executeTakeFirst(),
    );
    return found?.number ?? null;
  }

  async findNumbers(
    userId: string,
    references: readonly NamedVersion[],
  ): Promise<readonly (number | null)[]> {
    const user_id = userId.toLowerCase();
    const asked = references.map(({ name, version }) => ({ name_key: indexKey(name), version }));
    const found = new Map<string, number>();
    for (let start = 0; start < asked.length; start += VERSIONS_A_QUERY) {
      const some = asked.slice(start, start + VERSIONS_A_QUERY);
      const rows = await this.#database.read((db) =>
        db
          .selectFrom('prompts')
          .select(['number', 'name_key', 'version'])
          .where('user_id', '=', user_id)
          .where((row) =>
            row.or(
              some.map(({ name_key, version }) =>
                row.and([row('name_key', '=', name_key), row('version', '=', version)]),
              ),
            ),
          )
          .execute(),
      );
      for (const row of rows) found.set(versionKey(row), row.number);
    }
    return asked.map((version) => found.get(versionKey(version)) ?? null);
  }

  async findDeleted(numbers: readonly number[]): Promise<readonly number[]> {
    const deleted = new Set(numbers);
    for (let start = 0; start < numbers.length; start += NUMBERS_A_QUERY) {
      const some = numbers.slice(start, start + NUMBERS_A_QUERY);
      const rows = await this.#database.read((db) =>
        db.selectFrom('prompts').select('number').where('number', 'in', some).execute(),
      );
      for (const { number } of rows) deleted.delete(number);
    }
    return [...deleted];
  }

  async withNumbers(
    userId: string,
    numbers: readonly number[],
  ): Promise<readonly (NamedVersion & NumberedVersion)[]> {
    if (numbers.length === 0) return [];
    return await this.#database.read((db) =>
      db
        .selectFrom('prompts')
        .select(['number', 'name', 'version'])
        .where('user_id', '=', userId.toLowerCase())
        .where('number', 'in', numbers)
        .execute(),
    );
  }

  async numbersOf(userId: string, name: string): Promise<readonly NumberedVersion[]> {
    return await this.#database.read((db) =>
      db
        .selectFrom('prompts')
        .select(['number', 'version'])
        .where('user_id', '=', userId.toLowerCase())
        .where('name_key', '=', indexKey(name))
        .orderBy('version', 'desc')
        .execute(),
    );
  }

  async #page(userId: string, name: string | null, after: string | undefined): Promise<PromptPage> {
    return await this.#database.read(async (db) => {
      const place = after === undefined ? null : decodeCursor(after);
      const last = place?.last ?? (await lastNumber());
      let query = db
        .selectFrom('prompts')
        .select(['number', 'name', 'version', 'bytes'])
        .where('user_id', '=', userId.toLowerCase())
        .where('number', '<=', last)
        .orderBy('name')
        .orderBy('version', 'desc')
        .limit(PAGE_PROMPTS + 1);
      if (name !== null) query = query.where('name_key', '=', indexKey(name));
      if (place !== null) query = behind(query, place);
      const found = await query.execute();
      const taken = firstOf(found);
      const numbers = taken.map(({ number }) => number);
      const rows =
        numbers.length === 0
          ? []
          : await db
              .selectFrom('prompts')
              .selectAll()
              .where('number', 'in', numbers)
              .orderBy('name')
              .orderBy('version', 'desc')
              .execute();
      const end = taken.at(-1);
      const next = end === undefined || taken.length === found.length ? null : writePlace({ last, ...end });
      return { prompts: rows.map(toPrompt), next };

      async function lastNumber(): Promise<number> {
        const counter = db.selectFrom('counters').select('last').where('name', '=', 'prompt');
        return (await counter.executeTakeFirstOrThrow()).last;
      }
    });
  }
}

type PromptKey = Pick<Tables['prompts'], 'user_id' | 'name_key'>;

/** @returns -1 if no version was deleted */
async function removedVersion(tx: Transaction<Tables>, { user_id, name_key }: PromptKey): Promise<number> {
  const removed = await tx
    .selectFrom('prompt_removals')
    .select('version')
    .where('user_id', '=', user_id)
    .where('name_key', '=', name_key)
    .executeTakeFirst();
  return removed?.version ?? -1;
}

/** @throws ConflictError `prompt` */
async function refuseRemoved(
  tx: Transaction<Tables>,
  { version, ...key }: PromptKey & { readonly version: number },
): Promise<void> {
  const removed = await removedVersion(tx, key);
  if (version <= removed)
    throw new ConflictError(
      'prompt',
      `Version ${String(removed)} of the prompt was deleted and cannot be reused: use a version above ${String(removed)}.`,
    );
}

/** Includes the row of the new version. @throws ConflictError `prompt` */
async function refuseTooMany(tx: Transaction<Tables>, userId: string): Promise<void> {
  const { versions, bytes } = await tx
    .selectFrom('prompts')
    .select((row) => [
      row.fn.countAll<string | number>().as('versions'),
      row.fn.sum<string | number>('bytes').as('bytes'),
    ])
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  const count = Number(versions);
  if (count > MOST_VERSIONS)
    throw new ConflictError(
      'prompt',
      `You have ${String(MOST_VERSIONS)} versions of prompts, which is the limit for a user: delete some first.`,
    );
  if (Number(bytes) - count * ROW_BYTES.prompt > MOST_TEXT_BYTES)
    throw new ConflictError(
      'prompt',
      `The texts of your prompts would exceed ${String(MOST_TEXT_BYTES / 1024 / 1024)} MiB, which is the limit for a user: delete some first.`,
    );
}

/** Equivalent to `lower` in both databases: ASCII letters only. */
function inLowerCase(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function versionKey({ name_key, version }: { readonly name_key: string; readonly version: number }): string {
  return `${String(version)} ${name_key}`;
}

function behind<Row>(
  query: SelectQueryBuilder<Tables, 'prompts', Row>,
  { name, version }: Place,
): SelectQueryBuilder<Tables, 'prompts', Row> {
  return query.where((row) =>
    row.or([row('name', '>', name), row.and([row('name', '=', name), row('version', '<', version)])]),
  );
}

/** The rows of a page, at least one if there are any. */
function firstOf<Row extends { readonly bytes: number }>(rows: readonly Row[]): readonly Row[] {
  let count = 0;
  for (let bytes = 0; bytes < PAGE_BYTES && count < Math.min(rows.length, PAGE_PROMPTS); count++)
    bytes += itemAt(rows, count).bytes;
  return rows.slice(0, count);
}

function writePlace({ last, name, version }: Place): string {
  return JSON.stringify([last, name, version]);
}

function decodeCursor(text: string): Place {
  const [last, name, version] = JSON.parse(text) as [number, string, number];
  return { last, name, version };
}

function toPrompt(row: Tables['prompts']): PromptVersion {
  const { id, name, version, template_text, description, created_at } = row;
  return { id, name, version, template_text, description, is_active: row.is_active === 1, created_at };
}
