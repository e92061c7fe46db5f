import { Command, InvalidArgumentError, Option } from 'commander';
import { createKey, listKeys, newKey, serializeKey, revokeKey, type KeyJson } from '../api/resources/keys.js';
import { readMe } from '../api/resources/me.js';
import type { Factory } from '../component/factory.js';
import { SCOPES, type Scope } from '../component/identity.js';
import type { Accounts, User } from '../storage/contracts/accounts.js';
import { ApiClient, withApiOptions, type ApiOptions } from './api-client.js';
import { findUserId } from './find-user.js';
import type { CliIo, ProcessIo } from './io.js';
import { withControl } from './open-stores.js';
import { readId } from './read-id.js';
import { type Column, showJson, showList } from './table.js';

interface Options extends ApiOptions {
  readonly json?: boolean;
  readonly user?: string;
}

interface NewKeyOptions extends Options {
  readonly name?: string;
  readonly scopes?: Scope[];
  readonly expiresAt?: string;
  readonly offline?: boolean;
}

interface RevokeOptions {
  readonly force?: boolean;
  readonly withChildren?: boolean;
}

type CreatedKey = KeyJson & { readonly key: string };

const COLUMNS: readonly Column<KeyJson>[] = [
  { title: 'id', show: (key) => key.id },
  { title: 'key', show: (key) => `${key.prefix}…` },
  { title: 'name', show: (key) => key.name },
  { title: 'scopes', show: (key) => key.scopes.join(',') },
  { title: 'user', show: (key) => key.user_id },
  { title: 'parent', show: (key) => key.parent_id },
  { title: 'created', show: (key) => key.created_at },
  { title: 'last used', show: (key) => key.last_used_at },
  { title: 'expires', show: (key) => key.expires_at },
  { title: 'revoked', show: (key) => key.revoked_at },
];

/** `jackdaw keys`: uses the API of a running daemon, or the control store of a stopped one. */
export function keysCommand(io: ProcessIo, builtin: readonly Factory[]): Command {
  const command = new Command('keys').description('List, create and revoke API keys of a daemon.');

  withApiOptions(command.command('list').description('List all keys, without their secrets.'))
    .option('--user <user>', 'only the keys of this user (id or e-mail address)')
    .option('--json', 'print JSON')
    .action(async (options: Options) => {
      const client = await ApiClient.open(options, io);
      const keys = await client.call(listKeys, { query: await namedUser(client, options.user) });
      showList(io, keys, { ...options, columns: COLUMNS, none: 'There are no keys.' });
    });

  withApiOptions(
    command.command('create').description('Create a key. It is printed once, to standard output.'),
  )
    .option('--name <name>', 'what the key is for')
    .option('--scopes <list>', `comma-separated: ${SCOPES.join(', ')} (admin implies all)`, readScopes)
    .option('--user <user>', "whose data it reads and writes (id or e-mail address; default: the caller's)")
    .option('--expires-at <time>', 'ISO 8601 date-time (default: never)')
    .option('--json', 'print JSON')
    .addOption(
      new Option(
        '--offline',
        'create an admin key in the control store of a stopped daemon (default user: the first administrator)',
      ).conflicts(['name', 'scopes', 'expiresAt', 'url', 'key']),
    )
    .action(async ({ name, scopes, ...options }: NewKeyOptions, self: Command) => {
      if (options.offline === true) {
        await createOffline(io, builtin, options);
        return;
      }
      if (name === undefined || scopes === undefined)
        self.error(
          `error: required option '${name === undefined ? '--name <name>' : '--scopes <list>'}' not specified`,
        );
      const client = await ApiClient.open(options, io);
      const { expiresAt } = options;
      const created = await client.call(createKey, {
        body: {
          ...(await namedUser(client, options.user)),
          name,
          scopes,
          ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
        },
      });
      showCreated(io, created, options);
    });

  withApiOptions(command.command('revoke').description('Revoke a key immediately and permanently.'))
    .argument('<id>', 'id of the key', readId)
    .option('--with-children', 'also keys created with it, directly or indirectly')
    .option('--force', 'even if it is the key this command uses')
    .action(async (id: string, options: ApiOptions & RevokeOptions) => {
      const client = await ApiClient.open(options, io);
      const with_children = options.withChildren === true;
      if (options.force !== true && (await endsOwn(client, id.toLowerCase(), with_children)))
        throw new Error(
          'This would revoke the key that this command uses: make sure you have another one, then add --force.',
        );
      await client.call(revokeKey, { params: { key_id: id }, query: { with_children } });
      io.err(`Revoked key ${id}${with_children ? ' and the keys created with it' : ''}.`);
    });

  return command;
}

/** Creates a key directly in the store. Only file permissions protect it. */
async function createOffline(io: ProcessIo, builtin: readonly Factory[], options: Options): Promise<void> {
  await withControl(options, io, builtin, async ({ accounts, audit }, clock) => {
    const user = await offlineUser(accounts, options.user);
    const wish = { user_id: user.id, name: 'offline', scopes: ['admin'] as const };
    const { text, key } = newKey(clock.now(), { ...wish, expires_at: null });
    if (!(await accounts.createKey(key))) throw new Error(`There is no user ${user.id} any more.`);
    const { id: key_id, user_id, scopes } = key;
    await audit.append([
      {
        at: clock.now(),
        action: 'key.created',
        user_id: null,
        key_id: null,
        address: 'offline',
        fields: JSON.stringify({ key_id, user_id, scopes, expires_at: null }),
      },
    ]);
    io.err(`Key for ${user.name} (${user.email}).`);
    showCreated(io, { ...serializeKey(key), key: text }, options);
  });
}

/**
 * The named user, or the first one with an admin key.
 *
 * @throws Error if no such user exists
 */
async function offlineUser(
  accounts: Pick<Accounts, 'listUsers' | 'listKeys'>,
  wanted: string | undefined,
): Promise<User> {
  const users = await accounts.listUsers();
  if (users.length === 0)
    throw new Error(
      'The control store has no users yet: start the daemon, which creates the first user and key.',
    );
  if (wanted !== undefined) {
    const user = users.find(({ id, email }) => [id, email.toLowerCase()].includes(wanted.toLowerCase()));
    if (!user) throw new Error(`There is no user "${wanted}": give an id or an e-mail address of one.`);
    if (user.disabled) throw new Error(`The user "${wanted}" is disabled: give another user.`);
    return user;
  }
  const keys = await accounts.listKeys();
  const isAdmin = ({ id }: User): boolean =>
    keys.some(({ user_id, scopes }) => user_id === id && scopes.includes('admin'));
  const admin = users.find((user) => !user.disabled && isAdmin(user));
  if (!admin) throw new Error('No user has an admin key: give the user with --user (id or e-mail address).');
  return admin;
}

function showCreated(io: CliIo, created: CreatedKey, options: Options): void {
  if (options.json === true) {
    showJson(io, created);
    return;
  }
  io.err(`Created key ${created.id} (${created.scopes.join(', ')}). Keep it now: it is not shown again.`);
  io.out(created.key);
}

async function namedUser(
  client: ApiClient,
  user: string | undefined,
): Promise<{ readonly user_id?: string }> {
  return user === undefined ? {} : { user_id: await findUserId(client, user) };
}

function readScopes(text: string): Scope[] {
  const names = text.split(',').map((name) => name.trim());
  const scopes = SCOPES.filter((scope) => names.includes(scope));
  const unknown = names.filter((name) => !(SCOPES as readonly string[]).includes(name));
  if (unknown.length > 0 || scopes.length === 0)
    throw new InvalidArgumentError(`Scopes are ${SCOPES.join(', ')}, separated by commas.`);
  return scopes;
}

/** Whether revoking a key would revoke the key that this command uses. */
async function endsOwn(client: ApiClient, id: string, withChildren: boolean): Promise<boolean> {
  const { key_id: own } = await client.call(readMe);
  if (!withChildren) return own === id;
  const keys = await client.call(listKeys, { query: {} });
  const parents = new Map(keys.map((key) => [key.id, key.parent_id]));
  for (let key = own; key !== null; key = parents.get(key) ?? null) if (key === id) return true;
  return false;
}
