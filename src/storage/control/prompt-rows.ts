import { sql, type SelectQueryBuilder } from 'kysely';
import { itemAt } from '../../signal/checked.js';
import { ConflictError } from '../conflict-error.js';
import type { NamedVersion, NumberedVersion, PromptPage, Prompts, PromptVersion } from '../prompts.js';
import type { ControlDatabase } from './control-database.js';
import { appendFacts, isWanted } from './event-rows.js';
import { indexKey } from './index-key.js';
import { nextNumbers } from './numbers.js';
import { promptCreated } from './prompt-event.js';
import type { Tables } from './tables.js';

/** Bytes of text on one page of a list: what is copied and printed in a few milliseconds. */
const PAGE_BYTES = 256 * 1024;
const PAGE_PROMPTS = 500;
/** Each is a condition nested in others, and SQLite allows a thousand of these. */
const VERSIONS_A_QUERY = 200;
/** What a prompt takes beside its texts. */
const OWN_BYTES = 256;

/** Where a list goes on: after a version of a prompt, among those that existed when it began. */
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
    return await this.#database.transaction(async (tx, tell) => {
      const number = await nextNumbers(tx, 'prompt', 1);
      const inserted = await tx
        .insertInto('prompts')
        .values({
          ...{
            number,
            id,
            user_id,
            name,
            name_key: indexKey(name),
            version,
            template_text,
            description,
            created_at,
          },
          is_active: Number(is_active),
          bytes: OWN_BYTES + name.length + template_text.length + (description?.length ?? 0),
        })
        .onConflict((conflict) => conflict.columns(['user_id', 'name_key', 'version']).doNothing())
        .executeTakeFirst();
      if (inserted.numInsertedOrUpdatedRows !== 1n)
        throw new ConflictError('version', `Version ${String(version)} of the prompt exists already.`);
      tell('prompts');
      const fact = promptCreated(user_id, prompt);
      if (await isWanted(tx, fact)) {
        await appendFacts(tx, [fact]);
        tell('events');
      }
      return number;
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
      const place = after === undefined ? null : readPlace(after);
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

/** As `lower` has it in both databases: ASCII letters alone. */
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

/** The rows that make a page, at least one if there is one. */
function firstOf<Row extends { readonly bytes: number }>(rows: readonly Row[]): readonly Row[] {
  let count = 0;
  for (let bytes = 0; bytes < PAGE_BYTES && count < Math.min(rows.length, PAGE_PROMPTS); count++)
    bytes += itemAt(rows, count).bytes;
  return rows.slice(0, count);
}

function writePlace({ last, name, version }: Place): string {
  return JSON.stringify([last, name, version]);
}

function readPlace(text: string): Place {
  const [last, name, version] = JSON.parse(text) as [number, string, number];
  return { last, name, version };
}

function toPrompt(row: Tables['prompts']): PromptVersion {
  const { id, name, version, template_text, description, created_at } = row;
  return { id, name, version, template_text, description, is_active: row.is_active === 1, created_at };
}
