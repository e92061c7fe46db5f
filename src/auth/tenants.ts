import { createHash } from 'node:crypto';
import { Type, type Static } from 'typebox';
import { ConsumeError } from '../component/consume-error.js';
import type { ConsumeContext } from '../component/consumer.js';
import type { Host } from '../component/host.js';
import type { Identity } from '../component/identity.js';
import type { Clock } from '../component/telemetry.js';
import { choice, extensionId, section } from '../config/schema.js';
import { MICROS_PER_SECOND } from '../signal/time-units.js';
import { isControlStore, type ControlStore } from '../storage/contracts/control-store.js';
import { InvalidatedCache } from '../storage/shared/invalidated-cache.js';
import { grants } from './scopes.js';

const tenantConfig = section(
  {
    attribute: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Resource attribute that says whose data an item is, such as team.',
    }),
    users: Type.Record(
      Type.String(),
      Type.String({
        pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
        patternErrorMessage: 'must be the id of a user, as jackdaw users list shows it',
        description: 'Id of a user.',
      }),
      { minProperties: 1, description: 'Ids of users by values of the attribute.' },
    ),
    unknown: choice(['refuse', 'keep'], {
      default: 'refuse',
      description: 'Items whose value names no active user; keep: they belong to the caller.',
    }),
    without_scope: choice(['refuse', 'keep'], {
      default: 'refuse',
      description: 'Items for another user if the key lacks the scope delegate; keep: the caller’s.',
    }),
    control: extensionId({ default: 'sqlite', description: 'Id of the control store with the users.' }),
  },
  {
    description: 'Whose data an item is, by a resource attribute. Absent: the user of the API key.',
    isOptional: true,
  },
);

type TenantConfig = Static<typeof tenantConfig>;

/** The section `tenant` of a receiver. */
export const tenantSection = () => Type.Optional(tenantConfig);

export type Sender = Pick<Identity, 'userId' | 'keyId'> & Partial<Pick<Identity, 'scopes'>>;

/** Whose an item is, or why it is refused. */
type Owner =
  { readonly kind: 'user'; readonly userId: string } | { readonly kind: 'refused'; readonly reason: string };

/** Whether a user takes data is asked again after this time: another daemon may have disabled it. */
const REMEMBERED_FOR = 5 * MICROS_PER_SECOND;

/** Finds the owner of each item (`tenant` of a receiver): see `receivers/otlp/tenants.md`. */
export class Tenants {
  readonly #config: TenantConfig;
  readonly #receiver: string;
  readonly #clock: Clock;
  readonly #users: ReadonlyMap<string, string>;
  #accounts: ControlStore['accounts'] | undefined;
  /** By user, whether it exists and is not disabled. */
  #active: InvalidatedCache<boolean> | undefined;

  /** @param receiver its id */
  constructor(config: TenantConfig, receiver: string, clock: Clock) {
    this.#config = config;
    this.#receiver = receiver;
    this.#clock = clock;
    this.#users = new Map(Object.entries(config.users).map(([value, id]) => [value, id.toLowerCase()]));
  }

  get attribute(): string {
    return this.#config.attribute;
  }

  /** @throws Error without the control store */
  start(host: Pick<Host, 'extension'>): void {
    const { accounts, watch } = host.extension(this.#config.control, isControlStore);
    this.#accounts = accounts;
    this.#active = new InvalidatedCache(this.#users.size, this.#clock, watch, ['keys'], REMEMBERED_FOR);
  }

  close(): void {
    this.#active?.close();
  }

  /**
   * @param values of the attribute, as sent: none, one, or several where it is given twice
   * @throws ConsumeError, retryable, if users cannot be read
   */
  async ownerOf(values: readonly unknown[], sender: Sender): Promise<Owner> {
    const { attribute, unknown, without_scope } = this.#config;
    const own = { kind: 'user', userId: sender.userId } as const;
    const [value] = values;
    if (values.length === 0) return own;
    const userId = values.length === 1 && typeof value === 'string' ? this.#users.get(value) : undefined;
    if (userId === sender.userId) return own;
    // The scope is checked first: without it, a key cannot find out which values name users.
    if (!grants(sender.scopes ?? [], 'delegate')) {
      if (without_scope === 'keep') return own;
      return {
        kind: 'refused',
        reason: `the API key lacks the scope "delegate" for the attribute "${attribute}"`,
      };
    }
    if (userId !== undefined && (await this.#isActive(userId))) return { kind: 'user', userId };
    if (unknown === 'keep') return own;
    return {
      kind: 'refused',
      reason: `the attribute "${attribute}" names no active user of receivers.${this.#receiver}.tenant`,
    };
  }

  async #isActive(userId: string): Promise<boolean> {
    const find = async (): Promise<boolean> => {
      const user = await this.#accounts?.findUser(userId);
      return user !== undefined && user !== null && !user.disabled;
    };
    return (await this.#active?.answer(userId, find)) ?? false;
  }
}

/**
 * A name for an owner's part of a batch that no client of the owner can send, since those contain no "/", and that differs if the
 * batch is split differently after a change of the configuration.
 */
export function nameOfPart(
  context: ConsumeContext,
  sender: string,
  positions: readonly number[],
): ConsumeContext {
  const { batch } = context;
  if (batch === undefined) return context;
  const hash = createHash('sha256').update(Uint32Array.from(positions)).digest('base64url').slice(0, 22);
  return { ...context, batch: { id: `${sender}/${hash}/${batch.id}` } };
}

/** Errors that affect one user only. */
const LIMITS_OF_USER: ReadonlySet<string> = new Set(['quota_exceeded', 'storage_exceeded', 'rate_limited']);

/** Whether an error is about the part of one owner only: the other parts do not fail with it. */
export function isOwnersError(error: unknown): error is ConsumeError {
  return error instanceof ConsumeError && (!error.retryable || LIMITS_OF_USER.has(error.code));
}
