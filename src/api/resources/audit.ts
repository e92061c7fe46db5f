import { Type } from 'typebox';
import { AUDIT_ACTIONS } from '../../component/audit-actions.js';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import type { JsonObject } from '../../signal/attributes.js';
import { formatTime, parseTime } from '../../signal/time.js';
import { MAX_STRANGER_ENTRIES } from '../../storage/contracts/accounts.js';
import type { ApiContext } from '../support/api-context.js';
import { jsonObject, nullable, time, uuid } from '../support/fields.js';
import { pageParameters, pageRange, pageSchema, serializePage } from '../support/paging.js';

const entrySchema = Type.Object(
  {
    at: time(),
    action: Type.String({ description: 'Such as `endpoint.changed`.' }),
    user_id: nullable(uuid('The user who acted. Null: not authenticated.')),
    key_id: nullable(uuid('The key that was used. Null: authentication is off or failed.')),
    address: Type.String({
      description: 'The network address of the client; empty for entries that count several clients.',
    }),
    fields: jsonObject('Ids and values that the action changed, without secrets.'),
  },
  { title: 'AuditEntry' },
);

const listAudit = {
  id: 'listAudit',
  method: 'GET',
  path: '/api/v1/admin/audit',
  tag: 'administration',
  summary: 'List the last 10 000 audited actions of users, newest first',
  description: `Also lists the last ${MAX_STRANGER_ENTRIES} refused login links, at most 20 per minute; an entry with \`count\` stands for the others of that minute. Actions are listed shortly after their response; those of the last moments before a crash may be missing. The daemon’s log has all of them.`,
  access: 'admin',
  query: Type.Object({
    action: Type.Optional(Type.Enum([...AUDIT_ACTIONS], { description: 'This action.' })),
    user_id: Type.Optional(uuid('Actions of this user.')),
    since: Type.Optional(time('At or after.')),
    until: Type.Optional(time('Before.')),
    ...pageParameters,
  }),
  responses: { 200: pageSchema(entrySchema, 'AuditPage') },
} satisfies Operation;

/** `/admin/audit` */
export function auditRoutes({ routes, control }: Pick<ApiContext, 'routes' | 'control'>): readonly Route[] {
  return [
    routes.route(listAudit).to(async ({ query }) => {
      const { action, user_id: userId } = query;
      const from = query.since === undefined ? undefined : parseTime(query.since);
      const to = query.until === undefined ? undefined : parseTime(query.until);
      const filter = {
        ...(action === undefined ? {} : { action }),
        ...(userId === undefined ? {} : { userId }),
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
      };
      const { items, count } = await control.audit.list(filter, pageRange(query));
      const printed = items.map((entry) => ({
        ...entry,
        at: formatTime(entry.at),
        fields: JSON.parse(entry.fields) as JsonObject,
      }));
      return { status: 200, json: serializePage(printed, count, query) };
    }),
  ];
}
