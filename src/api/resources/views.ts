import { Type } from 'typebox';
import { HttpProblem, type Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { ROW_BYTES } from '../../storage/contracts/telemetry-writer.js';
import { VIEWS_OF_A_USER, VIEWS_OF_AN_ORGANIZATION } from '../../storage/contracts/accounts.js';
import type { ApiContext } from '../support/api-context.js';
import { nullable, uuid } from '../support/fields.js';
import { notFound } from '../support/not-found.js';

/** A path below the pages, never another host. Without a fragment, and not the login: a shared view must not log anyone in. */
const PATH_PATTERN = '^/(?![Ll][Oo][Gg][Ii][Nn])(?:[!"$-.0-\\[\\]-~][!"$-\\[\\]-~]*)?$';
const PATH = new RegExp(PATH_PATTERN);

const viewSchema = Type.Object(
  {
    id: uuid(),
    name: Type.String(),
    path: Type.String(),
    org_slug: nullable(
      Type.String({ description: 'Organization whose members see it. Null: only its creator.' }),
    ),
    may_change: Type.Boolean({
      description:
        'Whether the caller created it or administers its organization. Changing it also needs the scope `manage`.',
    }),
  },
  { title: 'SavedView' },
);

const listViews = {
  id: 'listViews',
  method: 'GET',
  path: '/api/v1/dashboard/views',
  tag: 'identity',
  summary: 'List saved views of the caller and of its organizations, by name',
  access: 'read',
  responses: { 200: Type.Array(viewSchema) },
} satisfies Operation;

const viewParams = Type.Object({ view_id: uuid() });

const putView = {
  id: 'putView',
  method: 'PUT',
  path: '/api/v1/dashboard/views/{view_id}',
  tag: 'identity',
  summary: 'Create or change a saved view, under an id of your choice',
  description: `Its creator and administrators of its organization can change it. A user can create ${VIEWS_OF_A_USER}, an organization can have ${VIEWS_OF_AN_ORGANIZATION}; more is 409 \`conflict\`. 404 if the id belongs to another user's view, or the caller is not a member of the organization.`,
  access: 'manage',
  audit: ['view.saved'],
  params: viewParams,
  body: Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 100, format: 'name' }),
      path: Type.String({
        maxLength: 4000,
        pattern: PATH_PATTERN,
        description: 'Path and query of the page, as in its address, such as `/runs?status=failed`.',
      }),
      org_slug: Type.Optional(nullable(Type.String({ description: 'Shares it with its members.' }))),
    },
    { title: 'NewView', additionalProperties: false },
  ),
  responses: { 200: viewSchema },
  errors: [404, 409],
} satisfies Operation;

const deleteView = {
  id: 'deleteView',
  method: 'DELETE',
  path: '/api/v1/dashboard/views/{view_id}',
  tag: 'identity',
  summary: 'Remove a saved view',
  access: 'manage',
  audit: ['view.removed'],
  params: viewParams,
  responses: { 204: null },
  errors: [404],
} satisfies Operation;

/** The routes under `/dashboard/views`. */
export function viewRoutes({ routes, control: { views }, audit, takeStorage }: ApiContext): readonly Route[] {
  return [
    routes.route(listViews).to(async ({ identity }) => ({
      status: 200,
      json: (await views.list(identity.userId)).map((view) => ({ ...view, path: safePath(view.path) })),
    })),
    routes.route(putView).to(async ({ identity, address, params, body }) => {
      const view = { ...body, id: params.view_id.toLowerCase(), org_slug: body.org_slug ?? null };
      await takeStorage(identity.userId, ROW_BYTES.view);
      const saved = await views.put(identity.userId, view);
      if (saved === 'foreign') throw notFound('view');
      if (saved === 'no_organization') throw notFound('organization');
      if (saved === 'full')
        throw new HttpProblem(409, 'conflict', 'The limit of saved views is reached: remove one.');
      audit({ identity, address }, 'view.saved', { view_id: view.id, slug: view.org_slug });
      return { status: 200, json: { ...view, may_change: true } };
    }),
    routes.route(deleteView).to(async ({ identity, address, params }) => {
      if (!(await views.remove(identity.userId, params.view_id.toLowerCase()))) throw notFound('view');
      audit({ identity, address }, 'view.removed', { ...params });
      return { status: 204 };
    }),
  ];
}

/** Earlier versions also stored paths with fragments and of the login page. */
function safePath(path: string): string {
  const [page = ''] = path.split('#');
  return PATH.test(page) ? page : '/';
}
