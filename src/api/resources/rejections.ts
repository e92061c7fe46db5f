import { Type } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { formatTime } from '../../signal/time.js';
import { SIGNALS } from '../../signal/batch.js';
import type { ApiContext } from '../support/api-context.js';
import { nullable, time } from '../support/fields.js';

const listRejections = {
  id: 'listRejections',
  method: 'GET',
  path: '/api/v1/dashboard/rejections',
  tag: 'identity',
  summary: 'List the last 1000 refused items of the caller, newest first',
  description:
    'Kept in memory since the daemon started; of each batch the first 100 items are listed. An item is listed each time it was sent, even if it was accepted later. Items dropped by processors, such as sampling, are not listed, nor are requests that were refused before any item was read.',
  access: 'read',
  responses: {
    200: Type.Object(
      {
        since: time('Start of the recording.'),
        items: Type.Array(
          Type.Object(
            {
              at: time(),
              receiver: Type.String({ description: 'Id of the receiver, as configured.' }),
              signal: Type.Enum(SIGNALS),
              trace_id: nullable(Type.String({ description: 'As sent. Null: none, or not decoded.' })),
              code: Type.String({
                description:
                  '`validation_failed`: the item was refused. Otherwise why its whole batch was refused, such as `quota_exceeded` or `overloaded`.',
              }),
              error: Type.String({
                description: 'The error without sent values: the place and the rule or limit.',
              }),
            },
            { title: 'Rejection' },
          ),
        ),
      },
      { title: 'Rejections' },
    ),
  },
} satisfies Operation;

/** `/dashboard/rejections` */
export function rejectionRoutes({ routes, rejections }: ApiContext): readonly Route[] {
  return [
    routes.route(listRejections).to(({ identity }) => {
      const { since, items } = rejections.of(identity.userId);
      const json = {
        since: formatTime(since),
        items: items.map((item) => ({ ...item, at: formatTime(item.at) })),
      };
      return { status: 200, json };
    }),
  ];
}
