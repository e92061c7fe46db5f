import { Command, InvalidArgumentError } from 'commander';
import { createKey, listKeys, revokeKey, type KeyJson } from '../api/resources/keys.js';
import { readMe } from '../api/resources/me.js';
import { SCOPES, type Scope } from '../component/identity.js';
import { ApiClient, withApiOptions, type ApiOptions } from './api-client.js';
import { findUserId } from './find-user.js';
import type { CliIo } from './io.js';
import { readId } from './read-id.js';
import { showJson, showList } from './result.js';
import type { Column } from './table.js';

interface Options extends ApiOptions {
  readonly json?: boolean;
  readonly user?: string;
}

interface NewKey {
  readonly name: string;
  readonly scopes: Scope[];
  readonly expiresAt?: string;
}

interface RevokeOptions {
  readonly force?: boolean;
  readonly withChildren?: boolean;
}

const COLUMNS: readonly Column<KeyJson>[] = [
  { title: 'id', show: (key) => key.id },
  { title: 'key', show: (key) => `${key.prefix}…` },
  { title: 'name', show: (key) => key.name },
  { title: 'scopes', show: (key) => key.scopes.join(',') },
  { title: 'user', show: (key) => key.user_id },
  { title: 'made with', show: (key) => key.parent_id },
  { title: 'created', show: (key) => key.created_at },
  { title: 'last used', show: (key) => key.last_used_at },
  { title: 'expires', show: (key) => key.expires_at },
  { title: 'revoked', show: (key) => key.revoked_at },
];

/** `jackdaw keys`: over the administration routes of a running daemon. */
export function keysCommand(io: CliIo): Command {
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
    command.command('create').description('Create a key. It is printed once, alone on standard output.'),
  )
    .requiredOption('--name <name>', 'what the key is for')
    .requiredOption(
      '--scopes <list>',
      `comma-separated: ${SCOPES.join(', ')} (admin implies all)`,
      readScopes,
    )
    .option('--user <user>', "whose data it reads and writes (id or e-mail address; default: the caller's)")
    .option('--expires-at <time>', 'ISO 8601 date-time (default: never)')
    .option('--json', 'print JSON')
    .action(async (options: Options & NewKey) => {
      const client = await ApiClient.open(options, io);
      const { name, scopes, expiresAt } = options;
      const created = await client.call(createKey, {
        body: {
          ...(await namedUser(client, options.user)),
          name,
          scopes,
          ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
        },
      });
      if (options.json === true) {
        showJson(io, created);
        return;
      }
      io.err(`Created key ${created.id} (${created.scopes.join(', ')}). Keep it now: it is not shown again.`);
      io.out(created.key);
    });

  withApiOptions(command.command('revoke').description('Revoke a key, at once and for good.'))
    .argument('<id>', 'id of the key', readId)
    .option('--with-children', 'also the keys that were made with it, and those that were made with these')
    .option('--force', 'even if it is the key this command uses')
    .action(async (id: string, options: ApiOptions & RevokeOptions) => {
      const client = await ApiClient.open(options, io);
      const with_children = options.withChildren === true;
      if (options.force !== true && (await endsOwn(client, id.toLowerCase(), with_children)))
        throw new Error(
          'This would revoke the key that the command itself uses: make sure of another one, then add --force.',
        );
      await client.call(revokeKey, { params: { key_id: id }, query: { with_children } });
      io.err(`Revoked key ${id}${with_children ? ' and the keys made with it' : ''}.`);
    });

  return command;
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

/** Whether revoking a key ends the key that the command uses. */
async function endsOwn(client: ApiClient, id: string, withChildren: boolean): Promise<boolean> {
  const { key_id: own } = await client.call(readMe);
  if (!withChildren) return own === id;
  const keys = await client.call(listKeys, { query: {} });
  const parents = new Map(keys.map((key) => [key.id, key.parent_id]));
  for (let key = own; key !== null; key = parents.get(key) ?? null) if (key === id) return true;
  return false;
}
