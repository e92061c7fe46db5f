import type { Kysely, Transaction } from 'kysely';
import { envelope } from '../../signal/event.js';
import { uuidV7 } from '../../signal/ids.js';
import { MICROS_PER_MS } from '../../signal/time-units.js';
import { formatTime } from '../../signal/time.js';
import type { Topic } from '../contracts/coordination.js';
import { ConflictError } from '../contracts/errors.js';
import type { Fact } from '../contracts/events.js';
import {
  chooseTarget,
  heaviestOf,
  LATEST,
  MOST_LABELS,
  MOST_MOVES,
  type ExpectedLabel,
  type FollowedMoves,
  type FoundPrompt,
  type LabelMove,
  type LabelTargets,
  type MoveResult,
  type NewMove,
  type PromptLabel,
  type PromptLabels,
  type WantedVersion,
} from '../contracts/prompt-labels.js';
import type { ChangedBy, PromptVersion } from '../contracts/prompts.js';
import type { ControlDatabase } from './control-database.js';
import { appendFacts, isWanted } from './event-rows.js';
import { indexKey } from './index-key.js';
import { nextNumbers } from './numbers.js';
import type { Tables } from './tables.js';

type PromptKey = Pick<Tables['prompts'], 'user_id' | 'name_key'>;

/** Maximum number of moves that a follower reads at once. */
const MOVES_A_READ = 1000;
/** A label can be moved between the two statements that find its version. */
const FIND_ATTEMPTS = 5;

/** Labels of prompts and their moves. */
export class PromptLabelRows implements PromptLabels {
  readonly #database: ControlDatabase;

  constructor(database: ControlDatabase) {
    this.#database = database;
  }

  async move(userId: string, { name, label, to, expected }: NewMove, by: ChangedBy): Promise<MoveResult> {
    const key = { user_id: userId.toLowerCase(), name_key: indexKey(name) };
    return await this.#database.transaction(async (tx, notify) => {
      // Takes the lock under which versions and labels change.
      const revision = await nextNumbers(tx, 'prompt', 1);
      const versions = to === null ? [] : to.map(({ version }) => version);
      const known = await knownVersions(tx, key, versions);
      if (known === null) return { kind: 'no_prompt' };
      const current = await labelOf(tx, key, label);
      if (!isExpected(current, expected)) return { kind: 'stale', current };
      if (to === null) {
        if (current === null) return { kind: 'no_label' };
        await deleteLabels(tx, key, label);
      } else {
        const missing = versions.find((version) => !known.has(version));
        if (missing !== undefined) return { kind: 'no_version', version: missing };
        if (current !== null && JSON.stringify(current.targets) === JSON.stringify(to))
          return { kind: 'unchanged', label: current };
        const targets = JSON.stringify(to);
        const row = { targets, number: revision, moved_at: by.at, key_id: by.keyId };
        await tx
          .insertInto('prompt_labels')
          .values({ ...key, name, label, ...row })
          .onConflict((conflict) => conflict.columns(['user_id', 'name_key', 'label']).doUpdateSet(row))
          .execute();
        if (current === null) await refuseTooMany(tx, key.user_id);
      }
      const move = { name, label, from: current?.targets ?? null, to, revision };
      await recordMoves(tx, notify, { key, moves: [move], by });
      const moved = await labelOf(tx, key, label);
      return moved === null ? { kind: 'removed' } : { kind: 'moved', label: moved };
    });
  }

  async list(userId: string): Promise<readonly PromptLabel[]> {
    const rows = await this.#database.read((db) =>
      selectLabels(db)
        .where('prompt_labels.user_id', '=', userId.toLowerCase())
        .orderBy('prompt_labels.name')
        .orderBy('label')
        .execute(),
    );
    return rows.map(toLabel);
  }

  async ofPrompt(userId: string, name: string): Promise<readonly PromptLabel[] | null> {
    const key = { user_id: userId.toLowerCase(), name_key: indexKey(name) };
    return await this.#database.read(async (db) =>
      (await newestVersion(db, key)) === null ? null : await labelsOf(db, key),
    );
  }

  async history(
    userId: string,
    name: string,
    {
      label,
      offset,
      limit,
    }: { readonly label: string | null; readonly offset: number; readonly limit: number },
  ): Promise<{ readonly moves: readonly LabelMove[]; readonly count: number }> {
    return await this.#database.read(async (db) => {
      const ofPrompt = db
        .selectFrom('prompt_label_moves')
        .where('prompt_label_moves.user_id', '=', userId.toLowerCase())
        .where('name_key', '=', indexKey(name))
        .where('label', label === null ? '<>' : '=', label ?? LATEST);
      const { count } = await ofPrompt
        .select((row) => row.fn.countAll<number | string>().as('count'))
        .executeTakeFirstOrThrow();
      const rows = await ofPrompt
        .leftJoin('api_keys', 'api_keys.id', 'prompt_label_moves.key_id')
        .selectAll('prompt_label_moves')
        .select('api_keys.name as key_name')
        .orderBy('number', 'desc')
        .offset(offset)
        .limit(limit)
        .execute();
      return { moves: rows.map(toMove), count: Number(count) };
    });
  }

  async find(userId: string, name: string, wanted: WantedVersion): Promise<FoundPrompt> {
    const key = { user_id: userId.toLowerCase(), name_key: indexKey(name) };
    return await this.#database.read(async (db) => {
      for (let attempt = 1; attempt <= FIND_ATTEMPTS; attempt++) {
        const version = await versionOf(db, key, { name, wanted });
        if (version === null) break;
        const prompt = await promptOf(db, key, version);
        if (prompt !== null) return { kind: 'found', prompt };
        if (wanted.kind === 'version') break;
      }
      if ((await newestVersion(db, key)) === null) return { kind: 'no_prompt' };
      const labels = await labelsOf(db, key);
      const kind = wanted.kind === 'version' ? 'no_version' : 'no_label';
      return { kind, labels: labels.map(({ label }) => label) };
    });
  }

  async follow(after: number | null): Promise<FollowedMoves> {
    return await this.#database.read(async (db) => {
      const counter = db.selectFrom('counters').select('last').where('name', '=', 'prompt');
      const { last } = await counter.executeTakeFirstOrThrow();
      if (after === null) return { moves: [], position: last, hasMore: false };
      const rows = await db
        .selectFrom('prompt_label_moves')
        .leftJoin('api_keys', 'api_keys.id', 'prompt_label_moves.key_id')
        .selectAll('prompt_label_moves')
        .select('api_keys.name as key_name')
        .where('number', '>', after)
        .where('number', '<=', last)
        .orderBy('number')
        .limit(MOVES_A_READ)
        .execute();
      const moves = rows.map((row) => ({ ...toMove(row), userId: row.user_id }));
      const end = rows.length === MOVES_A_READ ? rows.at(-1)?.number : undefined;
      return { moves, position: end ?? last, hasMore: end !== undefined };
    });
  }
}

/** Moves of one prompt in one transaction. */
interface Recorded {
  readonly key: PromptKey;
  readonly moves: readonly Pick<LabelMove, 'name' | 'label' | 'from' | 'to' | 'revision'>[];
  readonly by: ChangedBy;
}

/** Adds moves to the history, with their events. Must be the last step of a transaction. */
async function recordMoves(
  tx: Transaction<Tables>,
  notify: (topic: Topic) => void,
  { key, moves, by }: Recorded,
): Promise<void> {
  if (moves.length === 0) return;
  const rows = moves.map(({ name, label, from, to, revision }) => ({
    number: revision,
    ...key,
    name,
    label,
    from_targets: from && JSON.stringify(from),
    to_targets: to && JSON.stringify(to),
    moved_at: by.at,
    key_id: label === LATEST ? null : by.keyId,
  }));
  await tx.insertInto('prompt_label_moves').values(rows).execute();
  await tx
    .deleteFrom('prompt_label_moves')
    .where('user_id', '=', key.user_id)
    .where('number', '<=', (row) =>
      row
        .selectFrom('prompt_label_moves')
        .select('number')
        .where('user_id', '=', key.user_id)
        .orderBy('number', 'desc')
        .offset(MOST_MOVES)
        .limit(1),
    )
    .execute();
  notify('prompts');
  const facts: Fact[] = [];
  // `prompt.created` reports the moves of `latest`.
  for (const move of moves.filter(({ label }) => label !== LATEST)) {
    const version = move.to === null ? null : await promptOf(tx, key, heaviestOf(move.to));
    const fact = labelMoved(key.user_id, move, { id: version?.id ?? null, ...by });
    if (await isWanted(tx, fact)) facts.push(fact);
  }
  if (facts.length === 0) return;
  await appendFacts(tx, facts);
  notify('events');
}

/** @param id of the version that most sessions get; null if the label was removed */
function labelMoved(
  userId: string,
  { name, label, from, to, revision }: Recorded['moves'][number],
  { id, at, keyId }: ChangedBy & { readonly id: string | null },
): Fact {
  const type = 'prompt.label.moved';
  const head = { id: uuidV7(at / MICROS_PER_MS), type, timestamp: at } as const;
  const data = { id, name, label, from, to, revision, moved_at: formatTime(at), key_id: keyId };
  return {
    fact: `${type}:${String(revision)}`,
    tenant: userId,
    event: { ...head, organization_id: null, endpoint_id: null, body: envelope(head, data) },
  };
}

/** @returns those of the versions that exist; null if the prompt does not */
async function knownVersions(
  tx: Transaction<Tables>,
  key: PromptKey,
  versions: readonly number[],
): Promise<ReadonlySet<number> | null> {
  if ((await newestVersion(tx, key)) === null) return null;
  if (versions.length === 0) return new Set();
  const rows = await tx
    .selectFrom('prompts')
    .select('version')
    .where('user_id', '=', key.user_id)
    .where('name_key', '=', key.name_key)
    .where('version', 'in', versions)
    .execute();
  return new Set(rows.map(({ version }) => version));
}

/** @returns null if the prompt does not exist */
export async function newestVersion(db: Kysely<Tables>, key: PromptKey): Promise<number | null> {
  const newest = await db
    .selectFrom('prompts')
    .select('version')
    .where('user_id', '=', key.user_id)
    .where('name_key', '=', key.name_key)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest?.version ?? null;
}

async function versionOf(
  db: Kysely<Tables>,
  key: PromptKey,
  { name, wanted }: { readonly name: string; readonly wanted: WantedVersion },
): Promise<number | null> {
  if (wanted.kind === 'version') return wanted.version;
  const { label, sessionId } = wanted;
  if (label === LATEST) return await newestVersion(db, key);
  const found = await labelOf(db, key, label);
  return found && chooseTarget(found.targets, { name, label, sessionId });
}

async function promptOf(db: Kysely<Tables>, key: PromptKey, version: number): Promise<PromptVersion | null> {
  const row = await db
    .selectFrom('prompts')
    .selectAll()
    .where('user_id', '=', key.user_id)
    .where('name_key', '=', key.name_key)
    .where('version', '=', version)
    .executeTakeFirst();
  return row === undefined ? null : toPrompt(row);
}

export function toPrompt(row: Tables['prompts']): PromptVersion {
  const { id, name, version, type, template_text, description, created_at } = row;
  return { id, name, version, type, template_text, description, is_active: row.is_active === 1, created_at };
}

/** Labels with the names of the keys that moved them. */
function selectLabels(db: Kysely<Tables>) {
  return db
    .selectFrom('prompt_labels')
    .leftJoin('api_keys', 'api_keys.id', 'prompt_labels.key_id')
    .selectAll('prompt_labels')
    .select('api_keys.name as key_name');
}

async function labelsOf(
  db: Kysely<Tables>,
  { user_id, name_key }: PromptKey,
): Promise<readonly PromptLabel[]> {
  const rows = await selectLabels(db)
    .where('prompt_labels.user_id', '=', user_id)
    .where('name_key', '=', name_key)
    .orderBy('label')
    .execute();
  return rows.map(toLabel);
}

async function labelOf(db: Kysely<Tables>, key: PromptKey, label: string): Promise<PromptLabel | null> {
  const row = await selectLabels(db)
    .where('prompt_labels.user_id', '=', key.user_id)
    .where('name_key', '=', key.name_key)
    .where('label', '=', label)
    .executeTakeFirst();
  return row === undefined ? null : toLabel(row);
}

/** @param label null for all of the prompt */
async function deleteLabels(tx: Transaction<Tables>, key: PromptKey, label: string | null): Promise<void> {
  let query = tx
    .deleteFrom('prompt_labels')
    .where('user_id', '=', key.user_id)
    .where('name_key', '=', key.name_key);
  if (label !== null) query = query.where('label', '=', label);
  await query.execute();
}

function isExpected(current: PromptLabel | null, expected: ExpectedLabel): boolean {
  if (expected === null) return true;
  if (expected === 'none') return current === null;
  return current !== null && (expected === 'any' || current.revision === expected);
}

/** Includes the row of the new label. @throws ConflictError `prompt` */
async function refuseTooMany(tx: Transaction<Tables>, userId: string): Promise<void> {
  const { count } = await tx
    .selectFrom('prompt_labels')
    .select((row) => row.fn.countAll<number | string>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  if (Number(count) > MOST_LABELS)
    throw new ConflictError(
      'prompt',
      `You have ${String(MOST_LABELS)} prompt labels, which is the limit for a user: remove some first.`,
    );
}

type Named<Row> = Row & { readonly key_name: string | null };

function toLabel(row: Named<Tables['prompt_labels']>): PromptLabel {
  const { name, label, targets, number: revision, moved_at, key_id, key_name } = row;
  return { name, label, targets: parseTargets(targets), revision, moved_at, key_id, key_name };
}

function toMove(row: Named<Tables['prompt_label_moves']>): LabelMove {
  const { name, label, from_targets, to_targets, number: revision, moved_at, key_id, key_name } = row;
  const [from, to] = [from_targets, to_targets].map((text) => (text === null ? null : parseTargets(text)));
  return { name, label, from: from ?? null, to: to ?? null, revision, moved_at, key_id, key_name };
}

function parseTargets(text: string): LabelTargets {
  return JSON.parse(text) as LabelTargets;
}

/** A created or deleted version, or a deleted prompt. */
export interface ChangedVersions {
  readonly key: PromptKey;
  readonly name: string;
  /** The newest version before the change; null if there was none. */
  readonly before: number | null;
  readonly by: ChangedBy;
}

/** Records that `latest` moved, and removes the labels of a prompt without versions. Must be the last step of a transaction. */
export async function followVersions(
  tx: Transaction<Tables>,
  notify: (topic: Topic) => void,
  { key, name, before, by }: ChangedVersions,
): Promise<void> {
  const after = await newestVersion(tx, key);
  if (before === after) return;
  const labels = after === null ? await labelsOf(tx, key) : [];
  if (labels.length > 0) await deleteLabels(tx, key, null);
  const first = (await nextNumbers(tx, 'prompt', labels.length + 1)) - labels.length;
  const latest = { name, label: LATEST, from: latestOf(before), to: latestOf(after), revision: first };
  const removed = labels.map(({ label, targets }, i) => ({
    ...{ name, label, from: targets, to: null },
    revision: first + i + 1,
  }));
  await recordMoves(tx, notify, { key, moves: [latest, ...removed], by });
}

function latestOf(version: number | null): LabelTargets | null {
  return version === null ? null : [{ version, weight: 1 }];
}

/** @throws ConflictError `prompt` if a label serves the version */
export async function refuseLabelled(
  tx: Transaction<Tables>,
  key: PromptKey,
  version: number,
): Promise<void> {
  const labels = await labelsOf(tx, key);
  const serving = labels.filter(({ targets }) => targets.some((each) => each.version === version));
  if (serving.length === 0) return;
  const names = serving.map(({ label }) => label).join(', ');
  throw new ConflictError(
    'prompt',
    `Labels serve version ${String(version)}: ${names}. Move or remove them first.`,
  );
}
