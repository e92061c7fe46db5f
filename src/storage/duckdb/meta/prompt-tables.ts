import { cutText } from '../../../signal/names.js';
import { formatTime } from '../../../signal/time.js';
import { ConflictError, type PromptVersion } from '../../meta-store.js';
import type { Row } from '../connection.js';
import type { MetaConnection } from './meta-connection.js';
import type { MetaEvents } from './meta-events.js';
import { PromptRegistry, type KnownPrompt } from './prompt-registry.js';
import { PROMPTS, readAnyText } from './tables.js';
import { lastNumber } from './unusable-definition.js';

/** Of the texts of one page of a list: what is copied and printed in a few milliseconds. */
const PAGE_BYTES = 256 * 1024;
const PAGE_PROMPTS = 500;
/** What a prompt takes beside its texts. */
const OWN_BYTES = 256;
/** Of a description, in characters, that its event tells: what receivers get stays small. */
const TOLD_DESCRIPTION = 1000;

/** A page of a list of prompts. */
export interface PromptPage {
  readonly prompts: readonly PromptVersion[];
  /** The numbers of those that follow. */
  readonly rest: readonly number[];
}

/** The prompts in the main file, and what is in memory of them. Prompts are never changed and never deleted. */
export class PromptTables {
  readonly registry = new PromptRegistry();
  readonly #connection: MetaConnection;
  readonly #events: MetaEvents;

  constructor(connection: MetaConnection, events: MetaEvents) {
    this.#connection = connection;
    this.#events = events;
  }

  /** Fills the registry. @param tenantOf gives the tenant of a user who has prompts */
  async load(tenantOf: (userId: string) => number): Promise<void> {
    const columns = ['number', 'user_id', 'name', 'version', 'bytes'];
    for (const row of await this.#connection.read(PROMPTS.select('', columns))) {
      this.registry.add(readAnyText(row.name) ?? '', {
        tenant: tenantOf(String(row.user_id)),
        number: Number(row.number),
        version: Number(row.version),
        bytes: Number(row.bytes),
      });
    }
    const [row] = await this.#connection.read(`SELECT ${lastNumber(PROMPTS)} AS last`);
    this.registry.skipTo(Number(row?.last));
  }

  /** @throws ConflictError `version` */
  async create(userId: string, tenant: number, prompt: PromptVersion): Promise<void> {
    await this.#connection.transaction(async () => {
      const { name, version } = prompt;
      // The registry has all there is: changes come one after the other.
      if (this.registry.find(tenant, name, version) !== undefined)
        throw new ConflictError('version', `Version ${version} of the prompt exists already.`);
      const known: KnownPrompt = {
        tenant,
        number: this.registry.nextNumber,
        version,
        bytes: OWN_BYTES + name.length + prompt.template_text.length + (prompt.description?.length ?? 0),
      };
      await this.#connection.run(
        ...PROMPTS.insert({ ...prompt, user_id: userId, number: known.number, bytes: known.bytes }),
      );
      await this.#events.add({
        type: 'prompt.created',
        owner: { tenant, userId },
        now: prompt.created_at,
        data: toldOf(prompt),
      });
      this.#connection.afterCommit(() => {
        this.registry.add(name, known);
      });
    });
  }

  /** The first page of all prompts of a tenant. */
  async list(tenant: number): Promise<PromptPage> {
    return await this.#page(this.registry.all(tenant));
  }

  /** The first page of the versions of a prompt; null where there is none. */
  async listVersions(tenant: number, name: string): Promise<PromptPage | null> {
    const versions = this.registry.versions(tenant, name);
    return versions.length === 0 ? null : await this.#page(versions);
  }

  /** A further page. @param numbers as the page before told them; those of others' prompts are left out */
  async read(tenant: number, numbers: readonly number[]): Promise<PromptPage> {
    const prompts = numbers.flatMap((number) => this.registry.byNumber(number) ?? []);
    return await this.#page(prompts.filter((prompt) => prompt.tenant === tenant));
  }

  async #page(prompts: readonly KnownPrompt[]): Promise<PromptPage> {
    const numbers = firstOf(prompts).map(({ number }) => number);
    const rest = prompts.slice(numbers.length).map(({ number }) => number);
    if (numbers.length === 0) return { prompts: [], rest };
    const rows = await this.#connection.read(PROMPTS.select(`WHERE number IN (${numbers.join(', ')})`));
    const byNumber = new Map(rows.map((row) => [Number(row.number), row]));
    return {
      prompts: numbers.flatMap((number) => {
        const row = byNumber.get(number);
        return row === undefined ? [] : toPrompt(row);
      }),
      rest,
    };
  }
}

/** Those that make a page, at least one. */
function firstOf(prompts: readonly KnownPrompt[]): readonly KnownPrompt[] {
  let count = 0;
  for (let bytes = 0; bytes < PAGE_BYTES && count < Math.min(prompts.length, PAGE_PROMPTS); count++)
    bytes += prompts[count]?.bytes ?? 0;
  return prompts.slice(0, count);
}

function toldOf({ id, name, version, description, is_active, created_at }: PromptVersion): object {
  return {
    id,
    name,
    version,
    description: description === null ? null : cutText(description, TOLD_DESCRIPTION),
    is_active,
    created_at: formatTime(created_at),
  };
}

function toPrompt(row: Row): PromptVersion {
  return {
    id: String(row.id),
    name: readAnyText(row.name) ?? '',
    version: Number(row.version),
    template_text: readAnyText(row.template_text) ?? '',
    description: readAnyText(row.description),
    is_active: row.is_active === true,
    created_at: Number(row.created_at),
  };
}
