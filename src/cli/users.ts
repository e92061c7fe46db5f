import { Command, InvalidArgumentError, Option } from 'commander';
import { createUser, listUsers, updateUser, type UserJson } from '../api/resources/users.js';
import { parseSize } from '../config/size.js';
import { ApiClient, withApiOptions, type ApiOptions } from './api-client.js';
import type { CliIo } from './io.js';
import { type Column, showJson, showList } from './table.js';
import { findUserId } from './find-user.js';

interface Options extends ApiOptions {
  readonly json?: boolean;
}

interface Change {
  readonly email?: string;
  readonly name?: string;
  readonly monthlyEventLimit?: number;
  readonly storedBytesLimit?: number;
  readonly disable?: true;
  readonly enable?: true;
}

const STORED_BYTES = 'bytes to store, such as 10GiB, 0 for no limit';

const COLUMNS: readonly Column<UserJson>[] = [
  { title: 'id', show: (user) => user.id },
  { title: 'email', show: (user) => user.email },
  { title: 'name', show: (user) => user.name },
  { title: 'events a month', show: (user) => user.monthly_event_limit },
  { title: 'stored bytes', show: (user) => user.stored_bytes_limit },
  { title: 'disabled', show: (user) => (user.disabled ? 'yes' : null) },
  { title: 'created', show: (user) => user.created_at },
];

/** `jackdaw users`: uses the API of a running daemon. */
export function usersCommand(io: CliIo): Command {
  const command = new Command('users').description('List, create and change the users of a daemon.');

  withApiOptions(command.command('list').description('List all users.'))
    .option('--json', 'print JSON')
    .action(async (options: Options) => {
      const client = await ApiClient.open(options, io);
      const users = await client.call(listUsers);
      showList(io, users, { ...options, columns: COLUMNS, none: 'There are no users.' });
    });

  withApiOptions(
    command.command('create').description('Create a user. It needs a key before it can do anything.'),
  )
    .requiredOption('--email <address>', 'e-mail address')
    .requiredOption('--name <name>', 'name')
    .option('--monthly-event-limit <n>', 'events a month, 0 for no limit', readLimit)
    .option('--stored-bytes-limit <size>', STORED_BYTES, readSize)
    .option('--json', 'print JSON')
    .action(async (options: Options & Change) => {
      const client = await ApiClient.open(options, io);
      showUser(io, await client.call(createUser, { body: formatChange(options) }), options);
    });

  withApiOptions(command.command('update').description('Change a user.'))
    .argument('<user>', 'id or e-mail address')
    .option('--email <address>', 'new e-mail address')
    .option('--name <name>', 'new name')
    .option('--monthly-event-limit <n>', 'events a month, 0 for no limit', readLimit)
    .option('--stored-bytes-limit <size>', STORED_BYTES, readSize)
    .addOption(
      new Option('--disable', 'refuse its keys and stop its alerts; its data stays').conflicts('enable'),
    )
    .option('--enable', 'accept its keys and evaluate its alerts again')
    .option('--json', 'print JSON')
    .action(async (user: string, options: Options & Change) => {
      const client = await ApiClient.open(options, io);
      const params = { user_id: await findUserId(client, user) };
      showUser(io, await client.call(updateUser, { params, body: formatChange(options) }), options);
    });

  return command;
}

function showUser(io: CliIo, user: UserJson, options: Options): void {
  if (options.json === true) showJson(io, user);
  else showList(io, [user], { columns: COLUMNS, none: '' });
}

function formatChange({ email, name, monthlyEventLimit, storedBytesLimit, disable, enable }: Change) {
  return {
    ...(disable === undefined && enable === undefined ? {} : { disabled: disable === true }),
    ...(email === undefined ? {} : { email }),
    ...(name === undefined ? {} : { name }),
    ...(monthlyEventLimit === undefined ? {} : { monthly_event_limit: monthlyEventLimit }),
    ...(storedBytesLimit === undefined ? {} : { stored_bytes_limit: storedBytesLimit }),
  };
}

function readLimit(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

function readSize(text: string): number {
  const bytes = parseSize(/^\d+$/.test(text) ? Number(text) : text);
  if (bytes === undefined) throw new InvalidArgumentError('It must be a size, such as 500MiB or 10GiB.');
  return bytes;
}
