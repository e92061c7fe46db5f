import { Type, type Static } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { uuidV7 } from '../../signal/ids.js';
import { formatTime } from '../../signal/time.js';
import { type Organization, ROLES } from '../../storage/contracts/accounts.js';
import type { ApiContext } from '../support/api-context.js';
import { conflictAsProblem } from '../support/conflict.js';
import { time, uuid } from '../support/fields.js';
import { longArray } from '../support/long-body.js';
import { notFound } from '../support/not-found.js';

const organizationSchema = Type.Object(
  { id: uuid(), slug: Type.String(), name: Type.String(), created_at: time() },
  { title: 'Organization' },
);

export type OrganizationJson = Static<typeof organizationSchema>;

export const listOrganizations = {
  id: 'listOrganizations',
  method: 'GET',
  path: '/api/v1/admin/orgs',
  tag: 'administration',
  summary: 'List organizations, oldest first',
  access: 'admin',
  responses: { 200: Type.Array(organizationSchema) },
} satisfies Operation;

export const createOrganization = {
  id: 'createOrganization',
  method: 'POST',
  path: '/api/v1/admin/orgs',
  tag: 'administration',
  summary: 'Create an organization',
  access: 'admin',
  audit: ['organization.created'],
  body: Type.Object(
    {
      slug: Type.String({
        maxLength: 63,
        format: 'slug',
        description: 'The name in URLs: lower-case letters, digits and, inside, hyphens.',
      }),
      name: Type.String({ minLength: 1, maxLength: 200, format: 'name' }),
    },
    { title: 'NewOrganization', additionalProperties: false },
  ),
  responses: { 201: organizationSchema },
  errors: [409],
} satisfies Operation;

const slugParam = Type.String({ format: 'not-blank', description: 'The name of the organization in URLs.' });

const memberParams = Type.Object({ slug: slugParam, user_id: uuid() });

const memberSchema = Type.Object(
  { user_id: uuid(), email: Type.String(), name: Type.String(), role: Type.Enum(ROLES) },
  { title: 'Member' },
);

export type MemberJson = Static<typeof memberSchema>;

export const listMembers = {
  id: 'listMembers',
  method: 'GET',
  path: '/api/v1/admin/orgs/{slug}/members',
  tag: 'administration',
  summary: 'List members of an organization by e-mail address',
  access: 'admin',
  params: Type.Object({ slug: slugParam }),
  responses: { 200: Type.Array(memberSchema) },
  errors: [404],
} satisfies Operation;

export const putMember = {
  id: 'putMember',
  method: 'PUT',
  path: '/api/v1/admin/orgs/{slug}/members/{user_id}',
  tag: 'administration',
  summary: 'Make a user a member of an organization, or change the role',
  access: 'admin',
  audit: ['member.put'],
  params: memberParams,
  body: Type.Object(
    {
      role: Type.Optional(
        Type.Enum(ROLES, {
          description: 'Absent: a member keeps its role, and a new one becomes `member`.',
        }),
      ),
    },
    { title: 'MemberChange', additionalProperties: false },
  ),
  responses: {
    200: Type.Object(
      { slug: Type.String(), user_id: uuid(), role: Type.Enum(ROLES) },
      { title: 'ChangedMember' },
    ),
  },
  errors: [404],
} satisfies Operation;

export const removeMember = {
  id: 'removeMember',
  method: 'DELETE',
  path: '/api/v1/admin/orgs/{slug}/members/{user_id}',
  tag: 'administration',
  summary: 'End a membership',
  access: 'admin',
  audit: ['member.removed'],
  params: memberParams,
  responses: { 204: null },
  errors: [404],
} satisfies Operation;

/** The routes under `/admin/orgs`. */
export function organizationRoutes({ routes, control, audit, clock }: ApiContext): readonly Route[] {
  const { organizations } = control;
  return [
    routes.route(listOrganizations).to(async () => {
      const all = [...(await organizations.list())].sort((a, b) => (a.id < b.id ? -1 : 1));
      return { status: 200, encoded: await longArray(all, serializeOrganization) };
    }),
    routes.route(createOrganization).to(async ({ body, ...by }) => {
      const now = clock.now();
      const organization = { id: uuidV7(Math.floor(now / 1000)), ...body, created_at: now };
      await conflictAsProblem(organizations.create(organization));
      audit(by, 'organization.created', { slug: body.slug });
      return { status: 201, json: serializeOrganization(organization) };
    }),
    routes.route(listMembers).to(async ({ params }) => {
      const members = await organizations.listMembers(params.slug);
      if (members === null) throw notFound('organization');
      return { status: 200, encoded: await longArray(members, (member) => member) };
    }),
    routes.route(putMember).to(async ({ params, body, ...by }) => {
      const role = await organizations.putMember(params.slug, params.user_id, body.role);
      if (role === null)
        throw notFound((await organizations.listMembers(params.slug)) === null ? 'organization' : 'user');
      audit(by, 'member.put', { ...params, role });
      return { status: 200, json: { ...params, role } };
    }),
    routes.route(removeMember).to(async ({ params, ...by }) => {
      if (!(await organizations.removeMember(params.slug, params.user_id))) throw notFound('member');
      audit(by, 'member.removed', { ...params });
      return { status: 204 };
    }),
  ];
}

function serializeOrganization(organization: Organization): OrganizationJson {
  const { id, slug, name, created_at } = organization;
  return { id, slug, name, created_at: formatTime(created_at) };
}
