import { Command, Option } from 'commander';
import {
  createOrganization,
  listMembers,
  listOrganizations,
  putMember,
  removeMember,
  type MemberJson,
  type OrganizationJson,
} from '../api/resources/organizations.js';
import { type Role, ROLES } from '../storage/contracts/accounts.js';
import { ApiClient, withApiOptions, type ApiOptions } from './api-client.js';
import { findUserId } from './find-user.js';
import type { CliIo } from './io.js';
import { type Column, showJson, showList } from './table.js';

interface Options extends ApiOptions {
  readonly json?: boolean;
}

const COLUMNS: readonly Column<OrganizationJson>[] = [
  { title: 'slug', show: (organization) => organization.slug },
  { title: 'name', show: (organization) => organization.name },
  { title: 'id', show: (organization) => organization.id },
  { title: 'created', show: (organization) => organization.created_at },
];

const MEMBER_COLUMNS: readonly Column<MemberJson>[] = [
  { title: 'email', show: (member) => member.email },
  { title: 'name', show: (member) => member.name },
  { title: 'role', show: (member) => member.role },
  { title: 'id', show: (member) => member.user_id },
];

/** `jackdaw orgs`: uses the API of a running daemon. */
export function orgsCommand(io: CliIo): Command {
  const command = new Command('orgs').description('List and create organizations, and manage their members.');

  withApiOptions(command.command('list').description('List all organizations.'))
    .option('--json', 'print JSON')
    .action(async (options: Options) => {
      const client = await ApiClient.open(options, io);
      const organizations = await client.call(listOrganizations);
      showList(io, organizations, { ...options, columns: COLUMNS, none: 'There are no organizations.' });
    });

  withApiOptions(command.command('create').description('Create an organization.'))
    .requiredOption('--slug <slug>', 'its name in URLs: lower-case letters, digits, hyphens')
    .requiredOption('--name <name>', 'its display name')
    .option('--json', 'print JSON')
    .action(async (options: Options & { readonly slug: string; readonly name: string }) => {
      const client = await ApiClient.open(options, io);
      const { slug, name } = options;
      const created = await client.call(createOrganization, { body: { slug, name } });
      if (options.json === true) showJson(io, created);
      else showList(io, [created], { columns: COLUMNS, none: '' });
    });

  command.addCommand(membersCommand(io));
  return command;
}

function membersCommand(io: CliIo): Command {
  const command = new Command('members').description('List and change the members of an organization.');

  withApiOptions(command.command('list').description('List the members of an organization.'))
    .argument('<slug>', 'the organization')
    .option('--json', 'print JSON')
    .action(async (slug: string, options: Options) => {
      const client = await ApiClient.open(options, io);
      const members = await client.call(listMembers, { params: { slug } });
      showList(io, members, { ...options, columns: MEMBER_COLUMNS, none: `${slug} has no members.` });
    });

  withApiOptions(command.command('add').description('Add a user, or change the role of a member.'))
    .argument('<slug>', 'the organization')
    .argument('<user>', 'id or e-mail address')
    .addOption(
      new Option(
        '--role <role>',
        'what the member may do (default: existing members keep their role, new ones become member)',
      ).choices(ROLES),
    )
    .action(async (slug: string, user: string, options: ApiOptions & { readonly role?: Role }) => {
      const client = await ApiClient.open(options, io);
      const params = { slug, user_id: await findUserId(client, user) };
      const body = options.role === undefined ? {} : { role: options.role };
      const member = await client.call(putMember, { params, body });
      io.err(`${user} is now ${member.role} of ${slug}.`);
    });

  withApiOptions(command.command('remove').description('Remove a member.'))
    .argument('<slug>', 'the organization')
    .argument('<user>', 'id or e-mail address')
    .action(async (slug: string, user: string, options: ApiOptions) => {
      const client = await ApiClient.open(options, io);
      await client.call(removeMember, { params: { slug, user_id: await findUserId(client, user) } });
      io.err(`${user} is no longer a member of ${slug}.`);
    });

  return command;
}
