import { Type } from 'typebox';
import { HttpProblem, type Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import type { ApiContext } from '../support/api-context.js';
import { count } from '../support/fields.js';

export const rebuildServiceMap = {
  id: 'rebuildServiceMap',
  method: 'POST',
  path: '/api/v1/admin/service-map/rebuild',
  tag: 'administration',
  summary: 'Rebuild the service maps of all users and correct differences',
  description:
    'No differences are expected, except for traces received while no processor derived the map. Responds when the rebuild is done, after some seconds per million spans. The daemon keeps working meanwhile.',
  access: 'admin',
  audit: ['service_map.rebuilt'],
  query: Type.Object({
    dry_run: Type.Boolean({ default: false, description: 'Whether to only report differences.' }),
  }),
  responses: {
    200: Type.Object(
      {
        dry_run: Type.Boolean(),
        traces: count('Traces checked.'),
        spans: count('Spans checked.'),
        unmapped_traces: count(
          'Traces that were not in the map because they were received without the processor `service_map`.',
        ),
        differing_spans: count('Spans of the other traces whose stored node differs from the derived one.'),
        differing_sums: count('Nodes and edges of a user and hour whose sum differs from the stored traces.'),
        corrected: Type.Boolean({
          description: 'Whether differences were corrected. False if there were none.',
        }),
        examples: Type.Array(Type.String(), { description: 'Descriptions of some differences.' }),
        duration_ms: count('Duration.'),
      },
      { title: 'ServiceMapRebuild' },
    ),
  },
  errors: [409],
} satisfies Operation;

/** `/admin/service-map/rebuild` */
export function serviceMapRebuildRoutes({ routes, telemetry, audit }: ApiContext<'map'>): readonly Route[] {
  return [
    routes.route(rebuildServiceMap).to(async ({ query, ...by }) => {
      const rebuild = await telemetry.map.rebuild({ dryRun: query.dry_run });
      if (rebuild === null) throw new HttpProblem(409, 'conflict', 'The map is already being rebuilt.');
      if (!query.dry_run) audit(by, 'service_map.rebuilt', { corrected: rebuild.corrected });
      return { status: 200, json: { ...rebuild, examples: [...rebuild.examples] } };
    }),
  ];
}
